package dev.larder.internal.error;

import java.lang.ref.Cleaner;

/** Closes what nobody has closed once the garbage collector finds its owner, with a warning that says where it was opened. */
public final class LeakGuard {
    /** A thread for each kind of owner: one whose driver hangs does not keep the leases and seats of others. */
    private static final ClassValue<Cleaner> CLEANERS = new ClassValue<>() {
        @Override
        protected Cleaner computeValue(Class<?> type) {
            return Cleaner.create();
        }
    };

    private final Leak leak;
    private final Cleaner.Cleanable cleanable;

    /**
     * Watches an owner from now on.
     *
     * @param what the kind of thing that the owner is, for the warning
     * @param name which one it is
     * @param close closes what the owner holds; must not refer to the owner, which could never be collected then
     */
    public LeakGuard(Object owner, String what, String name, Runnable close) {
        this.leak = new Leak(owner.getClass(), what, name, close);
        this.cleanable = CLEANERS.get(owner.getClass()).register(owner, leak);
    }

    /** Says that the owner has been closed. Idempotent. */
    public void disarm() {
        leak.isClosed = true;
        cleanable.clean();
    }

    private static final class Leak implements Runnable {
        private final Class<?> type;
        private final String what;
        private final String name;
        private final Runnable close;
        private final Throwable openedAt = new Throwable("opened here");
        private volatile boolean isClosed;

        Leak(Class<?> type, String what, String name, Runnable close) {
            this.type = type;
            this.what = what;
            this.name = name;
            this.close = close;
        }

        @Override
        public void run() {
            if (!isClosed) {
                try {
                    warn();
                } finally {
                    close.run();
                }
            }
        }

        /** Looks the logger up only now, because that can take longer than opening what is watched. */
        private void warn() {
            Logs.of(type)
                    .warn(
                            "{} was never closed: {}={}; close it, best with try-with-resources",
                            what,
                            what,
                            name,
                            openedAt);
        }
    }
}
