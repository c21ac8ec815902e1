package dev.larder.cluster;

import dev.larder.launch.process.RunningRanks;

/** How ranks are asked to end, from politely to at once. */
enum StopKind {
    INTERRUPT(130) {
        @Override
        void ask(RunningRanks ranks) {
            ranks.interrupt();
        }
    },
    HANG_UP(129) {
        @Override
        void ask(RunningRanks ranks) {
            ranks.hangUp();
        }
    },
    TERMINATE(143) {
        @Override
        void ask(RunningRanks ranks) {
            ranks.terminate();
        }
    },
    KILL(137) {
        @Override
        void ask(RunningRanks ranks) {
            ranks.kill();
        }
    };

    private final int exitCode;

    StopKind(int exitCode) {
        this.exitCode = exitCode;
    }

    /** Tells whether ranks that end already have been asked as much. */
    boolean isAskedByFailure() {
        return this == TERMINATE || this == HANG_UP;
    }

    /** Returns the exit code of a run that somebody stopped so. */
    int exitCode() {
        return exitCode;
    }

    abstract void ask(RunningRanks ranks);

    /** Reads it from a message; what is not known is polite. */
    static StopKind of(String text) {
        for (StopKind kind : values()) {
            if (kind.name().equals(text)) {
                return kind;
            }
        }
        return TERMINATE;
    }
}
