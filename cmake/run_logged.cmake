# cmake -DLOG=<file> -P run_logged.cmake -- <command>...
# Runs a command with its output in LOG, and shows the output if the command fails or prints a warning.

set(command "")
set(seen OFF)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE ${last})
    if(seen)
        list(APPEND command "${CMAKE_ARGV${i}}")
    elseif(CMAKE_ARGV${i} STREQUAL "--")
        set(seen ON)
    endif()
endforeach()

execute_process(COMMAND ${command} OUTPUT_FILE "${LOG}" ERROR_FILE "${LOG}" RESULT_VARIABLE result)
file(READ "${LOG}" text)
if(NOT result EQUAL 0 OR text MATCHES "warning")
    message("${text}")
endif()
if(NOT result EQUAL 0)
    list(JOIN command " " command)
    message(FATAL_ERROR "failed (${result}): ${command}")
endif()
