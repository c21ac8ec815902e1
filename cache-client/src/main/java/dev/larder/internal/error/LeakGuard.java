package dev.larder.internal.error;

import java.lang.ref.Cleaner;

/** Closes an unclosed object when the garbage collector finds that its owner is unreachable, and logs where it was opened. */
public final class LeakGuard {
    /** One thread for each kind of owner, so that a hanging driver does not delay the release of leases and seats. */
    private static final ClassValue<Cleaner> CLEANERS = new ClassValue<>() {
        @Override
        protected Cleaner computeValue(Class<?> type) {
            return Cleaner.create();
        }
    };

    private final Leak leak;
    private final Cleaner.Cleanable cleanable;

    /**
     * Watches an owner.
     *
     * @param kind the kind of the owner, for the warning
     * @param name the name of the owner
     * @param close closes the owner's resources; must not refer to the owner, which would then always be reachable
     */
    public LeakGuard(Object owner, String kind, String name, Runnable close) {
        this.leak = new Leak(owner.getClass(), kind, name, close);
        this.cleanable = CLEANERS.get(owner.getClass()).register(owner, leak);
    }

    /** Records that the owner was closed. Idempotent. */
    public void disarm() {
        leak.isClosed = true;
        cleanable.clean();
    }

    private static final class Leak implements Runnable {
        private final Class<?> type;
        private final String kind;
        private final String name;
        private final Runnable close;
        private final Throwable openedAt = new Throwable("opened here");
        private volatile boolean isClosed;

        Leak(Class<?> type, String kind, String name, Runnable close) {
            this.type = type;
            this.kind = kind;
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

        /** Logs the leak. It gets the logger here, because that can take longer than opening the object. */
        private void warn() {
            Logs.of(type)
                    .warn(
                            "{} was never closed: {}={}; close it, best with try-with-resources",
                            kind,
                            kind,
                            name,
                            openedAt);
        }
    }
}
