"""Import of tendons: sums of joint coordinates, and straight paths over sites and pulleys."""

from __future__ import annotations

import numpy as np

from .._layout import BITS
from ..conventions import Floats, pose, pose_mul
from .source import EQ_TENDON, TRN_TENDON, WRAP_JOINT, WRAP_PULLEY, WRAP_SITE, Source

JOINT, POINT, PULLEY = (BITS["SAP_TENDON_" + word] for word in ("JOINT", "POINT", "PULLEY"))
Term = tuple[int, int, tuple[float, float, float]]  # tendon_term_type, tendon_term_index, tendon_term_value


class Tendons(Source):
    def add_tendons(self) -> None:
        """Converts the tendons that act, or that an actuator, an equality or a sensor refers to."""
        self.terms: list[list[Term]] = []  # of our tendons
        used = self.tendons_in_use()
        for t in range(self.m.ntendon):
            acts = self.tendon_acts(t)
            if not acts and t not in used:
                self.approximate("TENDON", t, "left out; by itself it does nothing")
                continue
            terms, fault = self.tendon_terms(t)
            if terms:
                self.add_tendon(t, terms)
            elif acts:
                self.lose("TENDON", t, fault)
            else:
                self.approximate("TENDON", t, f"left out: {fault}")

    def tendons_in_use(self) -> set[int]:
        """The tendons that converted actuators, equalities and sensors use."""
        m, used = self.m, set()
        for a in range(int(getattr(m, "nactuator", m.nu))):
            if m.actuator_trntype[a] == TRN_TENDON and not self.actuator_fault(a):
                used.add(int(m.actuator_trnid[a, 0]))
        for ids in (m.eq_obj1id, m.eq_obj2id):
            used |= {int(t) for kind, t in zip(m.eq_type, ids) if kind == EQ_TENDON and t >= 0}
        words = ("TENDONPOS", "TENDONVEL", "TENDONLIMITPOS", "TENDONLIMITVEL", "TENDONLIMITFRC", "TENDONACTFRC")
        kinds = [self.enum("mjtSensor", "mjSENS_" + word) for word in words]
        return used | {int(t) for kind, t in zip(m.sensor_type, m.sensor_objid) if int(kind) in kinds}

    def tendon_acts(self, t: int) -> bool:
        """Whether it has limits, stiffness, damping, friction or armature."""
        arrays = ("limited", "stiffness", "damping", "frictionloss", "armature")
        return any(np.any(getattr(self.m, f"tendon_{name}")[t]) for name in arrays)

    # ---- its length ----

    def tendon_terms(self, t: int) -> tuple[list[Term], str]:
        """The terms of its length, or none and the reason why it cannot be converted."""
        m = self.m
        wraps = range(m.tendon_adr[t], m.tendon_adr[t] + m.tendon_num[t])
        kinds = {int(m.wrap_type[w]) for w in wraps}
        if kinds - {WRAP_JOINT, WRAP_SITE, WRAP_PULLEY}:
            return [], "a path that wraps around a geom"
        terms = self.joint_terms(wraps) if kinds == {WRAP_JOINT} else self.path_terms(wraps)
        return terms, "its length cannot change"

    def joint_terms(self, wraps: range) -> list[Term]:
        m = self.m
        terms = [(int(m.jnt_dofadr[m.wrap_objid[w]]), float(m.wrap_prm[w])) for w in wraps]
        return [(JOINT, dof, (coefficient, 0.0, 0.0)) for dof, coefficient in terms if coefficient]

    def path_terms(self, wraps: range) -> list[Term]:
        """Sites and pulleys. Branches of one site have no length and are left out."""
        m = self.m
        branches: list[tuple[float, list[int]]] = [(1.0, [])]  # divisor, sites
        for w in wraps:
            if int(m.wrap_type[w]) == WRAP_PULLEY:
                branches.append((float(m.wrap_prm[w]), []))
            else:
                branches[-1][1].append(int(m.wrap_objid[w]))
        branches = [(divisor, sites) for divisor, sites in branches if len(sites) > 1]
        welds = [{int(m.body_weldid[m.site_bodyid[s]]) for s in sites} for _, sites in branches]
        if all(len(bodies) == 1 for bodies in welds):
            return []
        out: list[Term] = []
        for divisor, sites in branches:
            out += [(PULLEY, -1, (divisor, 0.0, 0.0))] if out or divisor != 1 else []
            out += [(POINT, *self.site_point(s)) for s in sites]
        return out

    def site_point(self, s: int) -> tuple[int, tuple[float, float, float]]:
        """(our body, the point in it) of a site."""
        m, b = self.m, int(self.m.site_bodyid[s])
        x, y, z = pose_mul(self.offset[b], pose(m.site_pos[s]))[:3]
        return int(self.body[b]), (float(x), float(y), float(z))

    # ---- its forces ----

    def add_tendon(self, t: int, terms: list[Term]) -> None:
        m = self.m
        self.tendon[t] = len(self.terms)
        self.terms.append(terms)
        for kind, index, value in terms:
            self.rows.add(tendon_term_type=kind, tendon_term_index=index, tendon_term_value=value)
        lower, upper, ke, kd = self.tendon_limits(t)
        spring = np.array(m.tendon_lengthspring[t])
        self.rows.add(
            tendon_limit_lower=lower,
            tendon_limit_upper=upper,
            tendon_limit_ke=ke,
            tendon_limit_kd=kd,
            tendon_spring_ke=0.0 if "SPRING" in self.disabled else self.linear(t, "stiffness"),
            tendon_spring_lower=spring[0],
            tendon_spring_upper=max(spring),
            tendon_damping=0.0 if "DAMPER" in self.disabled else self.linear(t, "damping"),
            tendon_friction=0.0 if "FRICTIONLOSS" in self.disabled else float(m.tendon_frictionloss[t]),
            tendon_armature=float(m.tendon_armature[t]),
            tendon_name=self.name("TENDON", t),
        )
        starts = self.rows.columns.setdefault("tendon_start", [0])
        starts.append(starts[-1] + len(terms))

    def linear(self, t: int, name: str) -> float:
        """Stiffness or damping; what makes it nonlinear is reported."""
        m = self.m
        if np.any(getattr(m, f"tendon_{name}poly", np.zeros((m.ntendon, 1)))[t]):
            self.lose("TENDON", t, f"{name} that depends on the {'rate' if name == 'damping' else 'length'}")
        if name == "stiffness" and getattr(m, "tendon_springyield", np.zeros(m.ntendon))[t] > 0:
            self.lose("TENDON", t, "a spring that yields")
        return float(getattr(m, f"tendon_{name}")[t])

    def tendon_limits(self, t: int) -> tuple[float, float, float, float]:
        m = self.m
        if not m.tendon_limited[t] or "LIMIT" in self.disabled:
            return -np.inf, np.inf, np.inf, 0.0
        ke, kd = self.softness(m.tendon_solref_lim[t], m.tendon_solimp_lim[t], float(m.tendon_invweight0[t]))
        margin = 0.0 if self.law == "mujoco" else m.tendon_margin[t]  # that law has margins of its own (law.py)
        lower, upper = np.array(m.tendon_range[t]) + np.array([1, -1]) * margin
        self.note_stiffness("TENDON", t, "limits", ke, "N/m or N m/rad")
        return float(lower), float(max(lower, upper)), ke, kd

    def tendon_range(self) -> Floats:
        """[our tendons][2] the range of the sum of the forces of its actuators."""
        m, out = self.m, np.tile([-np.inf, np.inf], (len(self.terms), 1))
        for t in np.nonzero((self.tendon >= 0) & np.array(m.tendon_actfrclimited, bool))[0]:
            out[self.tendon[t]] = m.tendon_actfrcrange[t]
        return out
