package dev.larder.internal.control;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;

/** The threads that listen while something is built. */
final class Listeners {
    private Listeners() {}

    static List<Thread> all() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals("larder-build"))
                .toList();
    }

    static Thread only() {
        List<Thread> all = all();
        assertThat(all).hasSize(1);
        return all.get(0);
    }
}
