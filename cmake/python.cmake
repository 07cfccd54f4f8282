# The files of the wheel outside python/: the library, the programs, the scenes, and the shared libraries that both need
# besides the C library's, with their licences. A wheel has no symbolic links, so the library has one name.
set_property(TARGET sapwood PROPERTY VERSION)
set_property(TARGET sapwood PROPERTY SOVERSION)
set_target_properties(sapwood PROPERTIES INSTALL_RPATH "$ORIGIN")
get_property(commands GLOBAL PROPERTY SAPWOOD_COMMANDS)
set_target_properties(sapwood_program ${commands} PROPERTIES INSTALL_RPATH "$ORIGIN/..")
install(TARGETS sapwood sapwood_program ${commands}
    LIBRARY DESTINATION sapwood COMPONENT python
    RUNTIME DESTINATION sapwood/bin COMPONENT python)
install(DIRECTORY bench/scenes DESTINATION sapwood COMPONENT python)
install(CODE "
    file(GET_RUNTIME_DEPENDENCIES
        LIBRARIES \"$<TARGET_FILE:sapwood>\" EXECUTABLES \"$<TARGET_FILE:sapwood_program>\"
        PRE_EXCLUDE_REGEXES \"^ld-linux\" \"^lib(c|m|dl|rt|pthread|gcc_s|sapwood)\\\\.so\"
        RESOLVED_DEPENDENCIES_VAR libraries)
    foreach(library IN LISTS libraries)
        cmake_path(GET library FILENAME name)
        file(COPY_FILE \"\${library}\" \"\${CMAKE_INSTALL_PREFIX}/sapwood/\${name}\" ONLY_IF_DIFFERENT)
        # Debian has the licence of a package in the folder of its documentation.
        file(REAL_PATH \"\${library}\" real)
        cmake_path(GET real FILENAME real)
        execute_process(COMMAND dpkg-query --search \"*/\${real}\" OUTPUT_VARIABLE owner ERROR_QUIET RESULT_VARIABLE failed)
        string(REGEX REPLACE \":.*\" \"\" owner \"\${owner}\")
        set(licence \"/usr/share/doc/\${owner}/copyright\")
        if(NOT failed AND EXISTS \"\${licence}\")
            file(MAKE_DIRECTORY \"\${CMAKE_INSTALL_PREFIX}/sapwood/licenses\")
            file(COPY_FILE \"\${licence}\" \"\${CMAKE_INSTALL_PREFIX}/sapwood/licenses/\${name}.txt\")
        else()
            message(WARNING \"no licence text of \${library} was found; a wheel for others needs it\")
        endif()
    endforeach()" COMPONENT python)
