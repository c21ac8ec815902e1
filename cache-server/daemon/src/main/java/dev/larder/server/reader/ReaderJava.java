package dev.larder.server.reader;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Finds a Java that is new enough for a reader: {@code $LARDER_READER_JAVA}, else the daemon's own, else one that the system has. */
final class ReaderJava {
    /** Names a Java, for programs that set no environment. */
    static final String PROPERTY = "larder.reader.java";

    private static final String VARIABLE = "LARDER_READER_JAVA";
    private static final Path SYSTEM = Path.of("/usr/lib/jvm");
    private static final Pattern VERSION = Pattern.compile("(?m)^JAVA_VERSION=\"(\\d+)");

    private ReaderJava() {}

    private record Installed(Path program, int version) {}

    /** Returns the program {@code java}. */
    static Path find(ReaderSpec reader) {
        String wanted = System.getProperty(PROPERTY, System.getenv(VARIABLE));
        if (wanted != null && !wanted.isEmpty()) {
            return named(reader, Path.of(wanted));
        }
        Path own = Path.of(System.getProperty("java.home"));
        if (Runtime.version().feature() >= reader.javaVersion()) {
            return own.resolve("bin/java");
        }
        return system().stream()
                .filter(java -> java.version >= reader.javaVersion())
                .max(Comparator.comparingInt(Installed::version))
                .map(Installed::program)
                .orElseThrow(() -> tooOld(reader, own, Runtime.version().feature()));
    }

    private static Path named(ReaderSpec reader, Path wanted) {
        Path home = Files.isDirectory(wanted) ? wanted : home(wanted);
        Optional<Installed> java = installed(home);
        if (java.isEmpty()) {
            throw Failure.of(ErrorCode.BAD_INPUT, "a variable names a folder without a Java")
                    .with(VARIABLE, wanted)
                    .remedy("set it to the folder of a JDK or JRE " + reader.javaVersion() + " or later");
        } else if (java.get().version < reader.javaVersion()) {
            throw tooOld(reader, wanted, java.get().version);
        }
        return java.get().program;
    }

    private static Path home(Path program) {
        try {
            return program.toRealPath().resolve("../..").normalize();
        } catch (IOException e) {
            return program;
        }
    }

    private static RuntimeException tooOld(ReaderSpec reader, Path java, int version) {
        return Failure.of(ErrorCode.BAD_INPUT, "a reader needs a newer Java")
                .with("kind", reader.kind())
                .with("needs", reader.javaVersion())
                .with("java", java)
                .with("version", version)
                .remedy("install JDK " + reader.javaVersion() + " or later and name its folder: " + VARIABLE + "=DIR");
    }

    private static List<Installed> system() {
        List<Installed> found = new ArrayList<>();
        try (DirectoryStream<Path> homes = Files.newDirectoryStream(SYSTEM)) {
            homes.forEach(home -> installed(home).ifPresent(found::add));
        } catch (IOException e) {
            return found;
        }
        return found;
    }

    /** Reads the version from the release file, which every JDK has, without running it. */
    private static Optional<Installed> installed(Path home) {
        Path program = home.resolve("bin/java");
        if (!Files.isExecutable(program)) {
            return Optional.empty();
        }
        try {
            Matcher version = VERSION.matcher(Files.readString(home.resolve("release")));
            return version.find()
                    ? Optional.of(new Installed(program, Integer.parseInt(version.group(1))))
                    : Optional.empty();
        } catch (IOException e) {
            return Optional.empty();
        }
    }
}
