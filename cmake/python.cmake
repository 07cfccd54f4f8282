# Files of the Python package outside python/. The shared library has one name, because wheels have no symbolic links.
install(FILES $<TARGET_FILE:sapwood> DESTINATION sapwood RENAME libsapwood${CMAKE_SHARED_LIBRARY_SUFFIX} COMPONENT python)
install(FILES bench/scenes/quadruped.yaml DESTINATION sapwood/scenes COMPONENT python)
