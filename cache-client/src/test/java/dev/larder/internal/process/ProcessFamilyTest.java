package dev.larder.internal.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

class ProcessFamilyTest {
    private static final int CHILDREN = 47;

    @Test
    void aParentComesBeforeItsChildren() throws IOException {
        ProcessFamily family = ProcessFamily.begin();
        ProcessBuilder builder =
                new ProcessBuilder("sh", "-c", "for i in $(seq " + CHILDREN + "); do sleep 600 & done; echo up; wait");
        builder.environment()
                .put(ProcessFamily.VARIABLE, family.mark(builder.environment().get(ProcessFamily.VARIABLE)));
        Process parent = builder.start();
        try {
            assertThat(parent.inputReader().readLine()).isEqualTo("up");

            List<ProcessHandle> members = family.members();

            assertThat(members).hasSize(CHILDREN + 1).startsWith(parent.toHandle());
        } finally {
            assertThat(family.kill()).isTrue();
        }
    }
}
