"""The table of capabilities in Python: the program's answers, and what this package can do by itself."""

import json
import subprocess

import numpy as np
import pytest

import sapwood

SOLVERS = ["sap", "cone", "pgs", "pgs_rows", "active_set", "mujoco"]
HERE = ["get_state", "linearize", "decompose", "numpy", "contacts_in_gpu_memory"]  # decompose: test_hulls.py


def test_the_table_is_that_of_the_program(program):
    table = json.loads(subprocess.run([program, "info", "--capabilities", "--json"], capture_output=True).stdout)
    cells = {(c.name, c.solver, c.device): c for c in sapwood.capabilities()}
    assert len(cells) == 12 * len(table)
    for row in table:
        for solver in SOLVERS:
            for device in ("cpu", "cuda"):
                cell = cells[row["name"], solver, device]
                assert (cell.group, cell.what) == (row["group"], row["what"])
                assert {"support": cell.support, "reason": cell.reason} == row[solver][device]


def test_a_formulation_and_a_device_select_cells():
    cells = sapwood.capabilities("mujoco", "cuda")
    assert {(c.solver, c.device) for c in cells} == {("mujoco", "cuda")}
    assert "guard" in [c.name for c in cells]


def test_unknown_names_are_errors_that_list_what_there_is():
    with pytest.raises(ValueError, match="solver is 'newton'; allowed: sap, cone"):
        sapwood.capability("guard", "newton")
    with pytest.raises(ValueError, match="device is 'gpu'; allowed: cpu, cuda"):
        sapwood.capability("guard", device="gpu")
    with pytest.raises(sapwood.ArgumentError, match="no capability 'gaurd'.*guard"):
        sapwood.capability("gaurd")


def test_the_group_of_python_is_tried_here():
    assert HERE == [c.name for c in sapwood.capabilities("sap", "cpu") if c.group == "Python"]


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_saved_state_continues_bit_for_bit(quadruped, solver):
    assert sapwood.capability("get_state", solver).support == "yes"
    with sapwood.Batch(quadruped, 2, preset="fast64", solver=solver) as batch:
        batch.step(20)
        state = batch.get_state()
        batch.step(20)
        first = batch.joint_q.copy()
        batch.set_state(state)
        batch.step(20)
        np.testing.assert_array_equal(first, batch.joint_q)


@pytest.mark.parametrize("solver", SOLVERS)
def test_derivatives_predict_a_step(quadruped, solver):
    assert sapwood.capability("linearize", solver).support == "yes"
    with sapwood.Batch(quadruped, 1, preset="fast64", solver=solver) as batch:
        batch.joint_q[:, 2] += 0.2  # in the air, where a step is smooth
        batch.forward_kinematics()
        _, B = batch.linearize()
        state = batch.get_state()
        ends = []
        for force in (0.0, 1e-4):
            batch.set_state(state)
            batch.joint_f[:, 8] = force
            batch.step()
            ends.append(batch.joint_qd.copy())
        nv = batch.model.num_dofs
        np.testing.assert_allclose((ends[1] - ends[0])[0] / 1e-4, B[0, nv:, 8], rtol=1e-4, atol=1e-6)


def test_arrays_of_the_cpu_are_numpys():
    assert sapwood.capability("numpy", device="cpu").support == "yes"
    assert sapwood.capability("numpy", device="cuda").support == "no"
    with sapwood.Batch(sapwood.scene("cube"), 1) as batch:
        assert isinstance(np.asarray(batch.joint_q), np.ndarray)


def test_contacts_in_gpu_memory_are_refused_on_the_cpu_with_the_reason():
    class OnGpu:
        def __init__(self, kind, *shape):
            self.__cuda_array_interface__ = {"shape": shape, "typestr": kind, "data": (16, False), "version": 3}

    cell = sapwood.capability("contacts_in_gpu_memory")
    with sapwood.Batch(sapwood.scene("cube"), 1) as batch, pytest.raises(Exception, match=cell.reason):
        batch.step(
            contacts={"count": OnGpu("<i4", 1), **{k: OnGpu("<f8", 1, 1, 3) for k in ("point0", "point1", "normal")}}
        )
