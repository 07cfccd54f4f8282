"""The model: the arrays of one world, checked and copied by the library."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from warnings import warn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _layout
from ._library import (
    ArgumentError,
    Control,
    FreeMotion,
    ModelError,
    MujocoArrays,
    OptionsStruct,
    Scene,
    State,
    address,
    check,
    given,
    integer,
    lib,
    text_of,
)
from ._library import ModelArrays as _ModelStruct
from .arguments import nearest
from .arrays import Handle, PartHandle, memory_view
from .options import Options

if TYPE_CHECKING:
    from ._arrays import ModelArrays
    from .mjcf import Frame, Import
else:
    ModelArrays = object

_COUNTS = [name for name, kind in _layout.STRUCTS["SapModelArrays"] if kind == "int"]
_SCALARS = ["name", "gravity"]
JOINT_TYPES = _layout.ENUMS["SapJointType"]
SHAPE_TYPES = _layout.ENUMS["SapShapeType"]


def _length(size: Any, counts: Mapping[str, int]) -> int:
    if isinstance(size, tuple):
        return counts[size[0]] + int(size[1])
    return counts[size] if isinstance(size, str) else int(size)


def _shape(name: str, counts: Mapping[str, int]) -> tuple[int, ...]:
    return tuple(_length(size, counts) for size in _layout.MODEL_ARRAYS[name][1])


def _text_array(names: Sequence[str | None]) -> Any:
    return (ctypes.c_char_p * len(names))(*[None if name is None else text_of(name) for name in names])


class Model(ModelArrays):
    """One world. docs/model.md describes its arrays and rules.

    Counts follow from the arrays where possible; the others must be given.

    >>> ball = Model(joint_type=[4], joint_parent=[-1], joint_child=[0], num_dofs=6, num_coords=7,
    ...              body_mass=[1.0], body_inertia=np.eye(3) * 0.1)

    The arrays of a model are read-only attributes: model.body_mass, model.joint_axis, ... and model.num_bodies, ...
    """

    dt: float  # s, default time step of Batch.step
    options: Options | None  # of the scene file
    imported: Import | None  # details of the import from a MuJoCo model
    mujoco: dict[str, Any] | None  # the numbers of MuJoCo's law (docs/mujoco.md)
    _handle: Handle
    _struct: Any
    _capacities: dict[str, int]  # contact slots that a probe found (probe.py)

    def __init__(self, *, dt: float = 0.005, mujoco: Mapping[str, Any] | None = None, **arrays: Any) -> None:
        """`mujoco`: the fields of SapMujocoParameters, for contact_solver = mujoco."""
        struct, keep = _struct_of(arrays)
        pointer = ctypes.c_void_p()
        if mujoco is None:
            check(lib.sap_model_create(ctypes.byref(struct), ctypes.byref(pointer)))
        else:
            law, numbers = _law_of(mujoco, struct)
            check(lib.sap_model_create_mujoco(ctypes.byref(struct), ctypes.byref(law), ctypes.byref(pointer)))
            del numbers
        del keep
        self._take(pointer.value, dt)
        self.mujoco = None if mujoco is None else dict(mujoco)

    def _take(self, pointer: int | None, dt: float) -> None:
        self._handle = Handle(pointer, "sap_model_destroy")
        self._struct = lib.sap_model_arrays(pointer).contents
        self.dt = float(dt)
        self.options = None
        self.imported = None
        self.mujoco = None
        self._capacities = {}
        for text in self.warnings:
            warn(text, stacklevel=4)

    # ---- creation ----

    @classmethod
    def load(cls, path: str | os.PathLike[str], asset_root: str | os.PathLike[str] | None = None) -> Model:
        """The model of a scene file (docs/scene.md), with its dt and options. Files that the scene names must be below
        its folder or below asset_root."""
        reader = {".xml": "from_mjcf", ".mjcf": "from_mjcf", ".urdf": "from_urdf"}.get(Path(path).suffix.lower())
        if reader:
            raise ArgumentError(f"{path} is no scene file; Model.{reader}(path) reads it")
        scene = ctypes.POINTER(Scene)()
        check(lib.sap_scene_load_with_root(path, asset_root, ctypes.byref(scene)))
        return cls._from_scene(scene)

    @classmethod
    def parse(cls, text: str, name: str = "scene") -> Model:
        """Same from text; `name` is the file name in messages."""
        scene = ctypes.POINTER(Scene)()
        data = text.encode()
        check(lib.sap_scene_parse(data, len(data), name, ctypes.byref(scene)))
        return cls._from_scene(scene)

    @classmethod
    def _part(cls, pointer: int, owner: Handle) -> Model:
        """The model that belongs to another object of the library."""
        model = cls.__new__(cls)
        model._take(pointer, 0.005)
        model._handle.pointer = None  # the owner destroys it
        model._handle = PartHandle(pointer, owner)
        return model

    @classmethod
    def _from_scene(cls, scene: Any) -> Model:
        model, found = cls.__new__(cls), scene.contents
        model._take(found.model, found.dt)
        found.model = None
        model.mujoco = law_numbers(model)
        model.options = Options(None)
        ctypes.memmove(ctypes.byref(model.options.struct), ctypes.byref(found.options), ctypes.sizeof(OptionsStruct))
        lib.sap_scene_destroy(scene)
        return model

    @classmethod
    def from_mjcf(
        cls,
        path: str | os.PathLike[str],
        strict: bool = False,
        quiet: bool = False,
        max_hull_vertices: int | None = None,
        decompose: bool | float = False,
        rigid: bool = False,
        law: str = "sap",
    ) -> Model:
        """The model of an MJCF file, read by MuJoCo's compiler (pip install sapwood[mujoco]).

        An import has the parameters of both laws. With law="mujoco" its batches follow MuJoCo: cone, integrator,
        tolerances and impratio come from the file (docs/mujoco.md). A batch with solver="mujoco" of any other MJCF
        model takes the parameters of this law, with the same `strict` and `quiet`.

        What moves the robot and is lost gives one SapwoodImportWarning for each kind of element; `quiet` silences them,
        `strict` makes them an error. `report(law)` lists everything that is not exact (docs/python.md). Equalities and
        limits of tendons are as soft as MuJoCo's; `rigid` makes them as stiff as the step allows.

        A mesh collides as its convex hull. A hull with more than `max_hull_vertices` is replaced by one with that many
        vertices inside it; 0 keeps exact hulls, None (the default) is 64, or 0 with MuJoCo's law. `decompose` divides
        meshes into convex parts instead, with CoACD (pip install sapwood[decompose]), up to that concavity (True:
        0.05); the parts are kept in `<path>.parts`.
        """
        from . import hulls, mjcf

        return mjcf.load(path, strict, quiet, hulls.HullOptions(max_hull_vertices, decompose), rigid, law)

    @classmethod
    def from_urdf(
        cls,
        path: str | os.PathLike[str],
        strict: bool = False,
        quiet: bool = False,
        floating: bool = False,
        packages: Mapping[str, str | os.PathLike[str]] | None = None,
        kp: ArrayLike | None = None,
        kd: ArrayLike = 0.0,
        max_hull_vertices: int | None = None,
        decompose: bool | float = False,
        balance_inertia: bool = False,
    ) -> Model:
        """The model of a URDF file, read by MuJoCo's compiler.

        `floating` gives the root link a free joint; otherwise it is part of the world. `packages` maps the names in
        package://name/... to folders; other packages are looked up above the file and in ROS_PACKAGE_PATH. A mimic
        joint is coupled to its joint by a rigid constraint. With `kp`, every revolute and prismatic joint gets a
        position drive (set_drive), limited by the effort of the file. `balance_inertia` replaces principal moments that
        no body has by their mean; the report says which. Meshes: as from_mjcf; formats other than OBJ and STL need
        trimesh (pip install sapwood[meshes]).
        """
        from . import hulls
        from .mjcf import urdf

        options = hulls.HullOptions(max_hull_vertices, decompose, hulls.cache_folder(path))
        model = urdf.load(path, strict, quiet, floating, packages or {}, options, balance_inertia)
        if kp is not None:
            model.set_drive(None, kp, kd)
        return model

    @classmethod
    def from_mjmodel(
        cls,
        m: Any,
        strict: bool = False,
        quiet: bool = False,
        max_hull_vertices: int | None = None,
        decompose: bool | float = False,
        rigid: bool = False,
        law: str = "sap",
    ) -> Model:
        """Same as from_mjcf, from a mujoco.MjModel; convex parts are not kept."""
        from . import hulls, mjcf

        return mjcf.convert(m, strict, quiet, hulls.HullOptions(max_hull_vertices, decompose), rigid, law)

    def report(self, law: str | None = None) -> list[str]:
        """The elements that an import did not convert, or converted to something else.

        They depend on the law, "sap" or "mujoco": by default the law of the model's batches.
        """
        from .mjcf import check_law

        own = "sap" if self.mujoco is None else "mujoco"
        wanted = law or ("mujoco" if self.options and self.options["contact_solver"] == "mujoco" else own)
        check_law(wanted)
        if not self.imported:
            return []
        found = self.imported.report(wanted)
        if found is not None:
            return found
        changed = f"model: changed after its import; the numbers of the file for law={wanted!r} are lost"
        return [changed, *(self.imported.report(own) or [])]

    @property
    def frames(self) -> Mapping[str, Frame]:
        """The sites of a MuJoCo model: {name: Frame(body, pose in the body)}; `Batch.frame` has their poses."""
        return self.imported.frames if self.imported else {}

    def set_drive(
        self,
        joints: str | Sequence[str] | None,
        kp: ArrayLike,
        kd: ArrayLike = 0.0,
        effort: ArrayLike | None = None,
    ) -> None:
        """Gives joints (default: all with one axis) a drive: the force kp (target - q) - kd qd, at most `effort`.

        It replaces drives and springs of these joints. Each value is one number or one for each joint. In a MuJoCo
        model the actuators of these joints become position servos: their control is the target in m or rad, within the
        limits of the joint, and `effort` is by default the largest force that they had. Other controls keep their
        meaning. Batches that exist keep the model as it was.
        """
        from .drives import set_drive

        set_drive(self, joints, kp, kd, effort)

    def _replace(self, arrays: dict[str, Any]) -> None:
        """Replaces the arrays; dt, options and imported stay, but the model no longer matches its source."""
        other = Model(dt=self.dt, mujoco=self.mujoco, **arrays)
        if self.imported:
            self.imported = replace(self.imported, laws={})
        self._handle, self._struct, self._capacities = other._handle, other._struct, {}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a scene file that loads as the same model."""
        from . import scene_file

        scene_file.write(self, path)

    def mujoco_weights(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """MuJoCo's weights at the initial coordinates: body_invweight0 (num_bodies, 2), dof_invweight0 (num_dofs,) and
        tendon_invweight0 (num_tendons,)."""
        body, dof = np.zeros((self.num_bodies, 2)), np.zeros(self.num_dofs)
        tendon = np.zeros(self.num_tendons)
        found = {"body": body, "dof": dof, "tendon": tendon}
        check(lib.sap_mujoco_weights(self.pointer, *(address(name, array) for name, array in found.items())))
        return body, dof, tendon

    # ---- contents ----

    @property
    def warnings(self) -> list[str]:
        """Values that the rules allow and that make contacts unrealistic (docs/faq.md). Creation warns of each."""
        texts: list[str] = []
        while text := lib.sap_model_warning(self.pointer, len(texts)):
            texts.append(text.decode())
        return texts

    @property
    def pointer(self) -> int:
        """The SapModel."""
        assert self._handle.pointer
        return self._handle.pointer

    @property
    def name(self) -> str:
        return ctypes.string_at(self._struct.name).decode()

    @property
    def gravity(self) -> NDArray[np.float64]:
        return np.array(self._struct.gravity)

    @property
    def counts(self) -> dict[str, int]:
        return {name: getattr(self._struct, name) for name in _COUNTS}

    @property
    def body_tree(self) -> NDArray[np.int32]:
        """(num_bodies,) the tree of each body: trees are the root joints, whose parent is the world, in their order."""
        tree, count = np.zeros(self.num_bodies, np.int32), 0
        for parent, child in zip(self.joint_parent, self.joint_child):  # parents come first
            tree[child] = count if parent < 0 else tree[parent]
            count += parent < 0
        return tree

    if not TYPE_CHECKING:  # which knows the names by _arrays.pyi

        def __getattr__(self, name: str) -> Any:
            if name in _COUNTS:
                return getattr(self._struct, name)
            if name not in _layout.MODEL_ARRAYS:
                raise AttributeError(f"a model has no {name!r}{nearest(name, dir(self))}")
            return self._array(name)

        def __setattr__(self, name: str, value: Any) -> None:
            if name in _layout.MODEL_ARRAYS or name in _COUNTS or name in _SCALARS:
                raise AttributeError(
                    f"{name} of a model is read-only: Model(**{{**model.arrays(), {name!r}: ...}}) makes another "
                    "model, batch.expand gives worlds values of their own"
                )
            if not hasattr(type(self), name) and name not in Model.__annotations__:
                raise AttributeError(f"a model has no {name!r}{nearest(name, dir(self))}")
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *_COUNTS, *_layout.MODEL_ARRAYS]

    def __reduce__(self) -> Any:
        return _rebuild, (type(self), self.arrays(), self.dt, self.options, self.imported, self.mujoco)

    def _array(self, name: str) -> Any:
        kind, shape, address = _layout.MODEL_ARRAYS[name][0], _shape(name, self.counts), getattr(self._struct, name)
        if kind != "text":
            return memory_view(address, shape, kind, self._handle, writable=False)
        names = ctypes.cast(address, ctypes.POINTER(ctypes.c_char_p))
        return [names[i].decode() for i in range(shape[0])]

    def arrays(self) -> dict[str, Any]:
        """Copies of all arrays, in the form of the constructor's arguments."""
        out: dict[str, Any] = {"name": self.name, "gravity": self.gravity, **self.counts}
        for name, (kind, _) in _layout.MODEL_ARRAYS.items():
            out[name] = self._array(name) if kind == "text" else np.array(self._array(name))
        return out

    def __repr__(self) -> str:
        return f"<Model {self.name!r}: {self.num_bodies} bodies, {self.num_dofs} dofs, {self.num_shapes} shapes>"

    # ---- inspection ----

    def free_motion(
        self,
        joint_q: ArrayLike,
        joint_qd: ArrayLike,
        h: float = 1e-3,
        joint_f: ArrayLike | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> dict[str, NDArray[np.float64]]:
        """The free motion of a step of h seconds, before contact, for states [n][nq] and [n][nv], in f64.

        The arrays of SapFreeMotion: v_star, A (mass matrix + armature + h damping), tau, joint_qd, body_pose,
        body_velocity, body_bias, energy. Velocities are in internal order: a free joint is [omega ; v_origin].
        """
        n, nv, nb = len(np.atleast_2d(joint_q)), self.num_dofs, self.num_bodies
        q = given("joint_q", np.atleast_2d(joint_q), np.float64, (n, self.num_coords))
        qd = given("joint_qd", np.atleast_2d(joint_qd), np.float64, (n, nv))
        f = None if joint_f is None else given("joint_f", np.atleast_2d(joint_f), np.float64, (n, nv))
        shapes = {
            "v_star": (nv,),
            "A": (nv, nv),
            "tau": (nv,),
            "joint_qd": (nv,),
            "body_pose": (nb, 7),
            "body_velocity": (nb, 6),
            "body_bias": (nb, 6),
            "energy": (2,),
        }
        out = {name: np.zeros((n, *shape)) for name, shape in shapes.items()}
        dtype = _layout.ENUMS["SapDtype"]["SAP_F64"]
        state = State(n, dtype, address("joint_q", q), address("joint_qd", qd), None, None)
        control = Control(n, dtype, address("joint_f", f), None, None, None, None, None)
        result = FreeMotion(**{name: address(name, array, written=True) for name, array in out.items()})
        self._with_solver(
            n,
            Options.of("approx64", options),
            lambda solver: lib.sap_free_motion(
                solver, ctypes.byref(state), ctypes.byref(control), h, ctypes.byref(result)
            ),
        )
        return out

    def _with_solver(self, n: int, options: Options, call: Any) -> None:
        solver = ctypes.c_void_p()
        check(lib.sap_solver_create(self.pointer, n, ctypes.byref(options.struct), ctypes.byref(solver)))
        try:
            check(call(solver))
        finally:
            lib.sap_solver_destroy(solver)


def _rebuild(
    kind: type[Model],
    arrays: dict[str, Any],
    dt: float,
    options: Options | None,
    imported: Import | None,
    mujoco: dict[str, Any] | None = None,
) -> Model:
    """A model with these arrays, for copies and pickles."""
    model = kind.__new__(kind)
    Model.__init__(model, dt=dt, mujoco=mujoco, **arrays)
    model.options, model.imported = options, imported
    return model


def _law_of(numbers: Mapping[str, Any], model: Any) -> tuple[Any, list[Any]]:
    """The C struct of MuJoCo's law, and the arrays that must outlive it. `model`: the struct of the model."""
    struct, counts = MujocoArrays(), {name: getattr(model, name) for name in _COUNTS}
    lib.sap_mujoco_arrays_default(ctypes.byref(struct))
    kinds = dict(_layout.STRUCTS["SapMujocoParameters"])
    keep: list[Any] = []
    for name, value in sorted(numbers.items(), key=lambda number: number[0] in _layout.MUJOCO_ARRAYS):  # counts first
        if name not in kinds:
            raise TypeError(f"MuJoCo's law has no number {name!r}{nearest(name, kinds)}")
        if name in _layout.MUJOCO_ARRAYS:
            kind, sizes = _layout.MUJOCO_ARRAYS[name]
            keep.append(given(f"mujoco.{name}", value, kind, error=ModelError))
            _check_size(f"mujoco.{name}", keep[-1], tuple(_length(size, counts) for size in sizes))
            value = address(name, keep[-1]) if keep[-1].size else None
        elif name.startswith("num_"):
            counts[name] = value
        setattr(struct, name, value)
    return struct, keep


def law_numbers(model: Model) -> dict[str, Any] | None:
    """The numbers of MuJoCo's law that a model has, in the form of the constructor's argument."""
    pointer = lib.sap_model_mujoco(model.pointer)
    if not pointer:
        return None
    struct = MujocoArrays.from_address(pointer)
    kinds = dict(_layout.STRUCTS["SapMujocoParameters"])
    counts = {**model.counts, **{name: getattr(struct, name) for name in kinds if name.startswith("num_")}}
    out = {name: getattr(struct, name) for name in kinds if name not in _layout.MUJOCO_ARRAYS}
    for name, (kind, sizes) in _layout.MUJOCO_ARRAYS.items():
        shape = tuple(_length(size, counts) for size in sizes)
        out[name] = np.array(memory_view(getattr(struct, name), shape, kind, None, writable=False))
    return out


def parameter_of(model: Model, name: str) -> Any:
    """The model's value of a parameter of worlds (Batch.expand)."""
    law = name.removeprefix("mujoco_")
    return getattr(model, name) if law == name else (law_numbers(model) or {})[law]


def _check_size(name: str, array: NDArray[Any], shape: tuple[int, ...]) -> None:
    if array.size != int(np.prod(shape, dtype=np.int64)):
        raise ModelError(f"{name} has shape {array.shape}; it must be {shape}")


def _struct_of(arrays: dict[str, Any]) -> tuple[Any, list[Any]]:
    """The C struct, and the objects that must outlive it."""
    struct = _ModelStruct()
    lib.sap_model_arrays_default(ctypes.byref(struct))
    counts: dict[str, int] = {}
    keep: list[Any] = []
    taken: dict[str, NDArray[Any]] = {}
    for name, value in arrays.items():
        if name in _COUNTS:
            counts[name] = integer(name, value)
        elif name == "name":
            keep.append(ctypes.create_string_buffer(text_of(value)))
            struct.name = ctypes.addressof(keep[-1])
        elif name == "gravity":
            struct.gravity[:] = given("gravity", value, np.float64, (3,)).tolist()
        elif name not in _layout.MODEL_ARRAYS:
            raise TypeError(f"a model has no array {name!r}{nearest(name, _layout.MODEL_ARRAYS)}")
        elif value is not None:
            keep.append(_put_array(struct, name, value, counts))
            if isinstance(keep[-1], np.ndarray):
                taken[name] = keep[-1]
    for name, count in counts.items():
        setattr(struct, name, count)
    for name, array in taken.items():
        _check_size(name, array, _shape(name, {count: getattr(struct, count) for count in _COUNTS}))
    return struct, keep


def _put_array(struct: Any, name: str, value: Any, counts: dict[str, int]) -> Any:
    """Sets the pointer of one array; an unknown count is set from its length."""
    kind: str = _layout.MODEL_ARRAYS[name][0]
    sizes: tuple[Any, ...] = _layout.MODEL_ARRAYS[name][1]
    place: int | None
    if kind == "text":
        array = _text_array(list(value))
        length, place = len(value), ctypes.addressof(array)
    else:
        columns = int(np.prod([s for s in sizes[1:] if isinstance(s, int)], dtype=int))
        array = given(name, value, kind, error=ModelError)
        length, place = array.size // columns, address(name, array)
    count, plus = sizes[0] if isinstance(sizes[0], tuple) else (sizes[0], 0)
    if len(sizes) > 1 and isinstance(sizes[1], str):  # keyframes: [nk][nq]
        length = np.atleast_2d(array).shape[0]
    if counts.setdefault(count, length - plus) != length - plus:
        raise ModelError(f"{name} has {length} rows; it must have {counts[count] + plus}")
    setattr(struct, name, place if length else None)
    return array
