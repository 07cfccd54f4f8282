"""Translates PTX, as nvcc writes it, to C that the runtime of this folder executes on a CPU.

parse      text -> functions, variables and instructions, each with its line and its line of CUDA source
types      PTX types and their C types
function   one PTX function -> one C function: registers, operands, addresses, counters
arithmetic, bits, compare, memory, control, warp      one handler for each instruction
module     all functions of a file -> C files and the tables the runtime reads
audit      which floating-point instructions a file has, and which of them round exactly
"""
