package dev.larder.server;

import dev.larder.testing.OtherUser;

/** The users of a {@link GroupStore}. */
enum StoreUser {
    OWNER(4100, GroupStore.GROUP_ID),
    MEMBER(4101, GroupStore.GROUP_ID),
    OTHER_MEMBER(4102, GroupStore.GROUP_ID),
    STRANGER(4103, 4103);

    private final int uid;
    private final int group;

    StoreUser(int uid, int group) {
        this.uid = uid;
        this.group = group;
    }

    OtherUser user() {
        return new OtherUser(uid, group);
    }

    int uid() {
        return uid;
    }
}
