package dev.larder.cluster;

import dev.larder.launch.process.RunningRanks;

/** The kinds of requests to end ranks, from polite to immediate. */
enum StopKind {
    INTERRUPT("INT", 130) {
        @Override
        void ask(RunningRanks ranks) {
            ranks.interrupt();
        }
    },
    HANG_UP("HUP", 129) {
        @Override
        void ask(RunningRanks ranks) {
            ranks.hangUp();
        }
    },
    TERMINATE("TERM", 143) {
        @Override
        void ask(RunningRanks ranks) {
            ranks.terminate();
        }
    },
    KILL("KILL", 137) {
        @Override
        void ask(RunningRanks ranks) {
            ranks.kill();
        }
    };

    private final String signal;
    private final int exitCode;

    StopKind(String signal, int exitCode) {
        this.signal = signal;
        this.exitCode = exitCode;
    }

    /** Returns whether ranks that are ending after a failure have received the same request. */
    boolean isAskedByFailure() {
        return this == TERMINATE || this == HANG_UP;
    }

    /** Returns the name of its signal, without SIG. */
    String signal() {
        return signal;
    }

    /** Returns the exit code of a run that was stopped in this way. */
    int exitCode() {
        return exitCode;
    }

    abstract void ask(RunningRanks ranks);
}
