# The files of the wheel outside python/: the library, the program, the scenes, and the shared libraries that both need
# besides those of the C library. A wheel has no symbolic links, so the library has one name.
set_property(TARGET sapwood PROPERTY VERSION)
set_property(TARGET sapwood PROPERTY SOVERSION)
set_target_properties(sapwood PROPERTIES INSTALL_RPATH "$ORIGIN")
set_target_properties(sapwood_program PROPERTIES INSTALL_RPATH "$ORIGIN/..")
install(TARGETS sapwood sapwood_program
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
    endforeach()" COMPONENT python)
