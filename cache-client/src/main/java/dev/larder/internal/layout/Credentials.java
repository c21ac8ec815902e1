package dev.larder.internal.layout;

import dev.larder.internal.posix.Posix;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The owner of a process.
 *
 * @param uid the real user
 * @param groups the effective group and the supplementary ones
 */
record Credentials(int uid, List<Integer> groups) {
    private static final Path STATUS = Path.of("/proc/self/status");

    /** Reads the credentials once, because a JVM does not change its user. */
    private static final class OfThisProcess {
        static final Credentials VALUE = read();
    }

    static Credentials ofThisProcess() {
        return OfThisProcess.VALUE;
    }

    /** Reads the kernel's file, which is fast when a command starts, or calls the C library if the file is not readable. */
    private static Credentials read() {
        try {
            return of(Files.readAllLines(STATUS)).orElseGet(Credentials::ofTheCLibrary);
        } catch (IOException e) {
            return ofTheCLibrary();
        }
    }

    /** Reads lines such as {@code Uid: 1000 1000 1000 1000}, the real user before the effective one, and {@code Groups: 4 27}. */
    static Optional<Credentials> of(List<String> status) {
        List<Integer> users = numbers("Uid:", status);
        List<Integer> own = numbers("Gid:", status);
        if (users.isEmpty() || own.size() < 2) {
            return Optional.empty();
        }
        List<Integer> groups = numbers("Groups:", status);
        groups.add(own.get(1));
        return Optional.of(
                new Credentials(users.get(0), groups.stream().distinct().toList()));
    }

    private static Credentials ofTheCLibrary() {
        Posix posix = Posix.system();
        return new Credentials(posix.userId(), posix.groupIds());
    }

    private static List<Integer> numbers(String name, List<String> status) {
        List<Integer> numbers = new ArrayList<>();
        for (String line : status) {
            if (line.startsWith(name)) {
                for (String word : line.substring(name.length()).strip().split("\\s+", -1)) {
                    if (!word.isEmpty()) {
                        numbers.add(Integer.parseUnsignedInt(word));
                    }
                }
            }
        }
        return numbers;
    }
}
