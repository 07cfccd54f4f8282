# What the Python package needs besides its own files. The shared library has one name there: wheels have no symbolic links.
install(FILES $<TARGET_FILE:sapwood> DESTINATION sapwood RENAME libsapwood${CMAKE_SHARED_LIBRARY_SUFFIX} COMPONENT python)
install(FILES bench/scenes/quadruped.yaml DESTINATION sapwood/scenes COMPONENT python)
