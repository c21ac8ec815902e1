package dev.larder.command.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SharedLibrariesTest {
    private static final List<String> NOTHING = List.of("true");

    @TempDir
    Path folder;

    @Test
    void librariesOfTheMachineAreFoundByTheirNames() {
        SharedLibraries machine = SharedLibraries.ofThisMachine();

        assertThat(machine.has("libc.so.6")).isTrue();
        assertThat(machine.has("libnosuch.so.7")).isFalse();
        assertThat(machine.has("libc.so.")).as("part of a name").isFalse();
    }

    @Test
    void theSearchPathComesFirst() throws IOException {
        Files.createFile(folder.resolve("libmine.so.1"));

        assertThat(new SharedLibraries("/nowhere:" + folder, NOTHING).has("libmine.so.1"))
                .isTrue();
        assertThat(new SharedLibraries("", NOTHING).has("libmine.so.1")).isFalse();
    }

    @Test
    void aPathIsTakenAsItIs() throws IOException {
        Path library = Files.createFile(folder.resolve("libmine.so.1"));

        assertThat(new SharedLibraries("", NOTHING).has(library.toString())).isTrue();
        assertThat(new SharedLibraries("", NOTHING).has(folder + "/libnone.so")).isFalse();
    }

    @Test
    void aLibraryInTheDefaultFolderNeedsNoListing() throws IOException {
        Files.createFile(folder.resolve("libmine.so.1.2"));
        Files.createFile(folder.resolve("libc.so.6"));
        List<String> listing = List.of("echo", "	libc.so.6 (libc6,x86-64) => " + folder + "/libc.so.6");

        assertThat(new SharedLibraries("", listing).has("libmine.so.1.2")).isTrue();
        assertThat(new SharedLibraries("", listing).has("libmine.so.1")).isFalse();
    }

    @Test
    void withoutAListingNothingIsKnown() {
        assertThat(new SharedLibraries("", List.of("/no/such/command")).has("libc.so.6"))
                .isFalse();
    }
}
