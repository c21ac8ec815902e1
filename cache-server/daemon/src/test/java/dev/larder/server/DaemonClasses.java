package dev.larder.server;

import dev.larder.testing.ChildJvm;
import dev.larder.testing.LeavesNothingBehind;
import dev.larder.testing.PackedClassPath;
import java.nio.file.Path;
import java.util.OptionalLong;
import java.util.stream.Stream;

/** An archive of the classes that a daemon loads: daemons of tests start sooner. */
final class DaemonClasses {
    private DaemonClasses() {}

    /** Returns the archive, which a daemon leaves that runs where there is none yet. */
    static Path archive() {
        return PackedClassPath.made("daemon.jsa", DaemonClasses::leave);
    }

    private static void leave(Path archive) {
        try (ChildJvm daemon = ChildJvm.start(
                PackedClassPath.words(),
                Stream.concat(ChildJvm.libraryFlags().stream(), Stream.of("-XX:ArchiveClassesAtExit=" + archive))
                        .toList(),
                Once.class.getName(),
                LeavesNothingBehind.newStore().toString())) {
            int code = daemon.awaitExit();
            if (code != 0) {
                throw new AssertionError("no archive of classes was left: exitCode=" + code);
            }
        }
    }

    /** A daemon that ends at once. */
    static final class Once {
        private Once() {}

        /** Takes the store. */
        public static void main(String[] arguments) {
            Path store = Path.of(arguments[0]);
            Daemon.start(new DaemonConfig(store, OptionalLong.empty(), 2, Sharing.NONE, () -> false, true))
                    .close();
        }
    }
}
