/* What all sensors share: poses from arrays. A real is one number here: an item of work is one sensor of one world. */

KERNEL_FN SapPack pack_of_one(int world) {
    SapPack pack;
    pack.world[0] = world;
    pack.count = 1;
    return pack;
}

KERNEL_FN Pose buffer_get_pose(SapBuffer buffer, int i, const SapPack *pack) {
    Pose X;
    X.p = buffer_get_vec3(buffer, i, pack);
    X.q = quat(buffer_get(buffer, i + 3, pack), buffer_get(buffer, i + 4, pack), buffer_get(buffer, i + 5, pack),
               buffer_get(buffer, i + 6, pack));
    X.q = quat_normalise(X.q);
    return X;
}
