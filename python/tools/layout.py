"""Writes sapwood/_layout.py from the public headers: structs, enums and the shapes of the model's arrays.

    python python/tools/layout.py include/sapwood > python/sapwood/_layout.py

The headers say everything: a field's type is its declaration, its shape the brackets that open its comment. A test
compares the result with what the compiler says (offsetof, sizeof), so a header that changes without this file fails.
"""

import re
import sys
from pathlib import Path

STRUCTS = [
    "SapModelArrays",
    "SapOptions",
    "SapScene",
    "SapState",
    "SapControl",
    "SapContacts",
    "SapContactRecord",
    "SapFreeMotion",
    "SapSolverInfo",
    "SapWorldReport",
    "SapContactReport",
    "SapConstraintReport",
    "SapProfile",
    "SapArray",
    "SapBatchInfo",
    "SapDualOptions",
    "SapDualProblem",
    "SapDualSolution",
    "SapDualRecord",
    "SapDumpCall",
    "SapDump",
    "SapRays",
    "SapMujocoParameters",
    "SapMujocoRows",
    "SapSensors",
    "SapCapability",
    "SapGradientOptions",
    "SapGradientInput",
    "SapGradientSteps",
]
ENUMS = [
    "SapStatus",
    "SapJointType",
    "SapConstraintType",
    "SapShapeType",
    "SapElementType",
    "SapDevice",
    "SapDtype",
    "SapIsa",
    "SapBroadPhase",
    "SapSection",
    "SapBatchField",
    "SapParameter",
    "SapDualKind",
    "SapDualMethod",
    "SapFrictionLaw",
    "SapRayAxes",
    "SapRaySight",
    "SapMujocoCone",
    "SapMujocoIntegrator",
    "SapSupport",
    "SapGradientStatus",
]
WORDS = {"int": "int", "bool": "bool", "double": "double", "int32_t": "int", "int64_t": "int64", "size_t": "size"}
WORDS["uint32_t"] = "int"

# What the first brackets of a comment call the counts of a model.
COUNTS = {
    "nb": "num_bodies",
    "nj": "num_joints",
    "nv": "num_dofs",
    "nq": "num_coords",
    "ns": "num_shapes",
    "na": "num_articulations",
    "nm": "num_meshes",
    "nh": "num_height_fields",
    "nk": "num_keyframes",
    "nc": "num_constraints",
    "nt": "num_tendons",
    "np": "num_pairs",
    "nu": "num_actuators",
    "nr": "num_actuator_terms",
}


def comments(text):
    """The text with every comment replaced by @i@, and the comments."""
    found = []

    def keep(match):
        found.append(" ".join(match.group(0)[2:-2].split()))
        return f" @{len(found) - 1}@ "

    return re.sub(r"/\*.*?\*/", keep, text, flags=re.S), found


def field_type(word, star, length, structs):
    if star:
        return "ptr"
    if word in structs:
        return structs[word]
    kind = WORDS.get(word, "int")  # an enum is an int
    return f"{kind}*{length}" if length else kind


def struct_fields(body, structs):
    """[(name, type, comment index or None)] of the members in `body`."""
    out = []
    for part in re.finditer(r"([^;@]*?);((?:\s*@\d+@)?)", re.sub(r"^\s*@\d+@\s*$", "", body, flags=re.M)):
        declaration = re.sub(r"\b(const|struct)\b", " ", part.group(1)).strip()
        comment = re.search(r"@(\d+)@", part.group(2))
        word, rest = re.match(r"(\w+)\s*(.*)", declaration, flags=re.S).groups()
        for name in rest.split(","):
            member = re.search(r"(\w+)\s*(?:\[\s*(\d+)\s*\])?\s*$", name)
            out.append(
                (
                    member.group(1),
                    field_type(word, "*" in name, member.group(2), structs),
                    int(comment.group(1)) if comment else None,
                )
            )
    return out


def array_element(declaration_type):
    return {"int32_t": "int32", "double": "float64", "char": "text"}[declaration_type]


def read_struct(name, text, structs):
    body = re.search(r"typedef struct " + name + r" \{(.*?)\} " + name + ";", text, flags=re.S).group(1)
    return struct_fields(body, structs)


def arrays_of(name, text, found):
    """{name: (element, (length, ...))} of a struct of arrays: lengths are numbers, counts or (count, plus)."""
    body = re.search(r"typedef struct " + name + r" \{(.*?)\} " + name + ";", text, flags=re.S).group(1)
    out = {}
    for match in re.finditer(r"const\s+(\w+)\s*\*\s*(const \*)?\s*(\w+);\s*@(\d+)@", body):
        comment = found[int(match.group(4))]
        brackets = re.match(r"((?:\[[^\]]+\])+)", comment)
        if brackets:
            sizes = tuple(size_of(s) for s in re.findall(r"\[([^\]]+)\]", brackets.group(1)))
            out[match.group(3)] = (array_element(match.group(1)), sizes)
    return out


def size_of(text):
    if text.isdigit():
        return int(text)
    name, _, plus = text.partition("+")
    name = COUNTS.get(name, name)
    return (name, int(plus)) if plus else name


def read_enum(name, text):
    body = re.search(r"typedef enum " + name + r" \{(.*?)\} " + name + ";", text, flags=re.S).group(1)
    out, value = {}, 0
    for item in re.sub(r"@\d+@", " ", body).split(","):
        match = re.match(r"\s*(\w+)\s*(?:=\s*(\d+))?\s*$", item)
        if match:
            value = int(match.group(2)) if match.group(2) else value
            out[match.group(1)] = value
            value += 1
    return out


def read_bits(text):
    """The anonymous enums: world status, shape flags, target modes."""
    out = {}
    for body in re.findall(r"^enum \{(.*?)\};", text, flags=re.S | re.M):
        for item in re.sub(r"@\d+@", " ", body).split(","):
            match = re.match(r"\s*(\w+)\s*=\s*(.+?)\s*$", item, flags=re.S)
            if match:
                out[match.group(1)] = eval(f"({match.group(2)})", {}, out)  # numbers, shifts and names above it
    return out


def read_version(text):
    return ".".join(re.search(rf"SAP_VERSION_{part} (\d+)", text).group(1) for part in ("MAJOR", "MINOR", "PATCH"))


def with_lengths(text):
    """The text with the counts of enums, which are lengths of arrays, as numbers."""
    counts = {name: value for enum in ENUMS for name, value in read_enum(enum, text).items()}
    return re.sub(r"\[(SAP_NUM_\w+)\]", lambda match: f"[{counts[match.group(1)]}]", text)


def main(folder):
    text, found = comments("\n".join(p.read_text() for p in sorted(Path(folder).glob("*.h"))))
    text = with_lengths(text)
    print('"""Generated by python/tools/layout.py from the public headers. Do not edit."""\n')
    print(f'VERSION = "{read_version(text)}"\n')
    print("STRUCTS = {")
    structs = {}
    for name in STRUCTS:
        structs[name] = name
        print(f'    "{name}": [')
        for field, kind, _ in read_struct(name, text, structs):
            print(f'        ("{field}", "{kind}"),')
        print("    ],")
    for variable, struct in (("MODEL_ARRAYS", "SapModelArrays"), ("MUJOCO_ARRAYS", "SapMujocoParameters")):
        print(f"}}\n\n{variable} = {{")
        for name, (element, sizes) in arrays_of(struct, text, found).items():
            print(f'    "{name}": ("{element}", {sizes!r}),'.replace("'", '"'))
    print("}\n\nENUMS = {")
    for name in ENUMS:
        print(f'    "{name}": {{')
        for item, value in read_enum(name, text).items():
            print(f'        "{item}": {value},')
        print("    },")
    print("}\n\nBITS = {")
    for name, value in read_bits(text).items():
        print(f'    "{name}": {value},')
    print("}")


if __name__ == "__main__":
    main(sys.argv[1])
