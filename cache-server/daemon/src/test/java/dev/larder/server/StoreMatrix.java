package dev.larder.server;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.TestTemplate;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Runs a test in each cell of a table of stores: on each file system, with each size, user and number. Each cell has a store of its own.
 * After a test that passed, the insides of the store are checked by {@link StoreInsides}; then its daemons end, and the file system is
 * unmounted. A cell that this machine cannot make is skipped with the reason.
 *
 * <p>Parameters are found by their type: {@link ServedStore} is the store, {@link StoreKind} its file system, {@link StoreUser} the user,
 * {@code int} the number. A test with a {@link GroupStore} has a store of another user, and needs root.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@TestTemplate
@ExtendWith(StoreMatrixExtension.class)
@interface StoreMatrix {
    /** The file systems. */
    StoreKind[] on() default {
        StoreKind.USUAL,
        StoreKind.TMPFS_NEVER,
        StoreKind.TMPFS_ADVISE,
        StoreKind.TMPFS_WITHIN_SIZE,
        StoreKind.TMPFS_ALWAYS,
        StoreKind.EXT4,
        StoreKind.OVERLAY
    };

    /** The sizes of the file system, each with further options of the tmpfs if it needs them; {@code %d} is the number. */
    String[] size() default "64m";

    /** The users that act on a {@link GroupStore}. */
    StoreUser[] as() default StoreUser.OWNER;

    /** Numbers whose meaning the test decides, such as the step at which a daemon is killed. */
    int[] number() default 0;
}
