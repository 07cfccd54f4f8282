# cmake --install: the headers, the shared library, the programs, and the CMake and pkg-config files.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS sapwood EXPORT sapwoodTargets FILE_SET HEADERS)
if(SAPWOOD_PROGRAM)
    # A relative path lets the program find its library after both are moved together.
    file(RELATIVE_PATH libdir_from_bindir /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
    set_target_properties(sapwood_program PROPERTIES INSTALL_RPATH "$ORIGIN/${libdir_from_bindir}")
    install(TARGETS sapwood_program)
    get_property(commands GLOBAL PROPERTY SAPWOOD_COMMANDS)
    set(libexec_dir ${CMAKE_INSTALL_LIBEXECDIR}/sapwood)
    file(RELATIVE_PATH libdir_from_libexec /${libexec_dir} /${CMAKE_INSTALL_LIBDIR})
    set_target_properties(${commands} PROPERTIES INSTALL_RPATH "$ORIGIN/${libdir_from_libexec}")
    install(TARGETS ${commands} RUNTIME DESTINATION ${libexec_dir})
    # The man page and the completions are what the programs print of themselves, so these must run here.
    if(NOT CMAKE_CROSSCOMPILING)
        set(help_pages ${PROJECT_BINARY_DIR}/generated/help)
        add_custom_command(OUTPUT ${help_pages}/sapwood.1 ${help_pages}/sapwood.bash ${help_pages}/_sapwood
            COMMAND ${CMAKE_CURRENT_LIST_DIR}/help_pages.sh $<TARGET_FILE:sapwood_program> ${help_pages}
            DEPENDS ${CMAKE_CURRENT_LIST_DIR}/help_pages.sh sapwood_program ${commands}
            COMMENT "Writing the man page and the completions"
            VERBATIM)
        add_custom_target(sapwood_help_pages ALL DEPENDS ${help_pages}/sapwood.1)
        add_dependencies(sapwood_all sapwood_help_pages)
        install(FILES ${help_pages}/sapwood.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
        install(FILES ${help_pages}/sapwood.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
            RENAME sapwood)
        install(FILES ${help_pages}/_sapwood DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
    endif()
    if(TARGET sapwood_mpi)
        install(TARGETS sapwood_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
    endif()
endif()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/sapwood)
install(EXPORT sapwoodTargets NAMESPACE sapwood:: DESTINATION ${package_dir})
configure_package_config_file(cmake/sapwoodConfig.cmake.in sapwoodConfig.cmake INSTALL_DESTINATION ${package_dir}
    NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
# Before version 1, a minor version may change the interface.
write_basic_package_version_file(sapwoodConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/sapwoodConfig.cmake ${PROJECT_BINARY_DIR}/sapwoodConfigVersion.cmake
    DESTINATION ${package_dir})

# A prefix relative to the file works with `cmake --install --prefix` and with a moved tree.
file(RELATIVE_PATH prefix_from_pc /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" prefix_from_pc "${prefix_from_pc}")
configure_file(cmake/sapwood.pc.in sapwood.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/sapwood.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
