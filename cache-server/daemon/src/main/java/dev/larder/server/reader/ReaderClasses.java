package dev.larder.server.reader;

import dev.larder.internal.process.SystemTools;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The archive of classes that lets readers of one kind start quickly. It is in the folder that the launcher names for archives, or in the user's cache if
 * that folder is read-only. It is made in the background, from the classes that the first reader has loaded. A daemon that was given no folder makes none.
 * Readers run without it as well, only slower, so nothing fails because of it.
 */
final class ReaderClasses {
    private static final Logger LOG = LoggerFactory.getLogger(ReaderClasses.class);
    /** The property with the folder for archives; {@code ops/launcher} sets it. */
    private static final String FOLDER = "larder.archives";

    private static final String ARCHIVE_FLAG = "-XX:SharedArchiveFile=";

    /** A JVM that maps the archive to other addresses writes to all its pages first. */
    private static final List<String> AT_ITS_ADDRESSES = List.of(
            "-XX:+IgnoreUnrecognizedVMOptions", "-XX:+UnlockDiagnosticVMOptions", "-XX:ArchiveRelocationMode=0");

    private static final String LIST = "classes.list";
    private static final long DUMP_SECONDS = 60;

    /** The archives that this daemon has made, or tried to make. */
    private static final Set<Path> TRIED = ConcurrentHashMap.newKeySet();

    private final ReaderSpec spec;
    private final Path java;
    private final String classPath;
    private final @Nullable Path archive;

    private ReaderClasses(ReaderSpec spec, Path java, String classPath, @Nullable Path archive) {
        this.spec = spec;
        this.java = java;
        this.classPath = classPath;
        this.archive = archive;
    }

    /** Names the archive of readers that a Java runs with a class path, whether it is there or not. */
    static ReaderClasses of(ReaderSpec spec, Path java, String classPath) {
        String named = System.getProperty(FOLDER, "");
        // A JDK archives no classes of folders.
        boolean isJarsOnly = Stream.of(classPath.split(":", -1)).noneMatch(entry -> Files.isDirectory(Path.of(entry)));
        if (named.isEmpty() || !isJarsOnly) {
            return new ReaderClasses(spec, java, classPath, null);
        }
        Path folder = Path.of(named);
        try {
            String key = String.format("%08x", key(java, classPath, spec.flags()));
            String name = "reader-" + spec.kind() + "-" + key + ".jsa";
            boolean isOurs = Files.isWritable(folder) || Files.isReadable(folder.resolve(name));
            return new ReaderClasses(
                    spec, java, classPath, (isOurs ? folder : cache(System.getenv(), folder)).resolve(name));
        } catch (IOException e) {
            return new ReaderClasses(spec, java, classPath, null); // the start of the reader reports the failure
        }
    }

    /** Names the user's cache, as the launcher does: an absolute path, or else the folder that is given. */
    static Path cache(Map<String, String> environment, Path otherwise) {
        String home = environment.getOrDefault("HOME", "");
        String cache = environment.getOrDefault("XDG_CACHE_HOME", "");
        String folder = (cache.isEmpty() ? home + "/.cache" : cache) + "/larder";
        return folder.startsWith("/") && !(cache.isEmpty() && home.isEmpty()) ? Path.of(folder) : otherwise;
    }

    /** An archive is good for one Java, and for one class path of unchanged jars. */
    private static long key(Path java, String classPath, List<String> flags) throws IOException {
        StringBuilder text = new StringBuilder().append(flags);
        for (String file : (java.toRealPath() + ":" + classPath).split(":", -1)) {
            BasicFileAttributes attributes = Files.readAttributes(Path.of(file), BasicFileAttributes.class);
            text.append('\n').append(file).append(' ').append(attributes.size());
            text.append(' ').append(attributes.lastModifiedTime().toMillis());
        }
        CRC32 sum = new CRC32();
        sum.update(text.toString().getBytes(StandardCharsets.UTF_8));
        return sum.getValue();
    }

    /** Returns the flags of a reader that runs in a folder: to use the archive, or to write the list of its classes there. */
    List<String> flags(Path folder) {
        if (archive == null) {
            return List.of();
        } else if (Files.isReadable(archive)) {
            List<String> flags = new ArrayList<>(List.of("-Xshare:auto", "-Xlog:disable", ARCHIVE_FLAG + archive));
            flags.addAll(AT_ITS_ADDRESSES);
            return flags;
        } else if (TRIED.contains(archive) || !hasFolder(archive)) {
            return List.of();
        }
        return List.of("-Xlog:disable", "-XX:DumpLoadedClassList=" + folder.resolve(LIST));
    }

    private static boolean hasFolder(Path archive) {
        Path folder = archive.resolveSibling("");
        try {
            Files.createDirectories(folder);
        } catch (IOException e) {
            return false;
        }
        return Files.isWritable(folder);
    }

    /** Makes the archive, in the background, from the list of a reader that has ended. */
    void learn(Path folder) {
        Path list = folder.resolve(LIST);
        if (archive == null || !Files.isReadable(list) || !TRIED.add(archive)) {
            return;
        }
        Path known = beside(archive, ".list");
        try {
            Files.writeString(known, wholeLines(Files.readString(list)));
        } catch (IOException e) {
            LOG.debug("no archive of a reader's classes: kind={} reason={}", spec.kind(), e.toString());
            return;
        }
        // The kernel kills the process when the thread that started it ends: this one stays with it.
        Thread thread = new Thread(() -> make(archive, known), "larder-reader-classes");
        thread.setDaemon(true);
        thread.start();
    }

    /** Returns the name of a file of this process. The launcher removes such files of killed daemons after a while. */
    private static Path beside(Path archive, String suffix) {
        return archive.resolveSibling("." + ProcessHandle.current().pid() + "-" + archive.getFileName() + suffix);
    }

    /** A reader that was killed has not written its last line to the end; a JDK may crash on half of one. */
    private static String wholeLines(String list) {
        return list.substring(0, list.lastIndexOf('\n') + 1);
    }

    private void make(Path archive, Path known) {
        Path fresh = beside(archive, "");
        known.toFile().deleteOnExit(); // should the daemon end first
        fresh.toFile().deleteOnExit();
        try {
            Process process = dump(known, fresh);
            boolean ended = process.waitFor(DUMP_SECONDS, TimeUnit.SECONDS);
            if (!ended) {
                process.destroyForcibly().waitFor();
            }
            if (ended && process.exitValue() == 0 && Files.isRegularFile(fresh)) {
                Files.move(fresh, archive, StandardCopyOption.ATOMIC_MOVE);
            }
        } catch (IOException | RuntimeException e) {
            LOG.debug("no archive of a reader's classes: kind={} reason={}", spec.kind(), e.toString());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            remove(known);
            remove(fresh);
        }
    }

    private Process dump(Path known, Path fresh) throws IOException {
        List<String> words = new ArrayList<>(List.of(SystemTools.find("nice"), "-n", "19"));
        words.addAll(List.of(SystemTools.find("setpriv"), "--pdeathsig", "KILL", "--", java.toString()));
        words.addAll(spec.flags());
        words.addAll(List.of("-Xmx512m", "-XX:+UseSerialGC", "-XX:-UsePerfData", "-XX:ErrorFile=/dev/null"));
        words.addAll(List.of("-XX:-CreateCoredumpOnCrash", "-Xlog:disable", "-Xshare:dump"));
        words.addAll(List.of("-XX:+IgnoreUnrecognizedVMOptions", "-XX:+AOTClassLinking")); // since JDK 24
        words.addAll(List.of("-XX:SharedClassListFile=" + known, ARCHIVE_FLAG + fresh, "-cp", classPath));
        ProcessBuilder builder = new ProcessBuilder(words).redirectErrorStream(true);
        builder.environment().clear();
        return builder.redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")))
                .start();
    }

    private void remove(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            LOG.debug("a temporary file was not removed: file={} reason={}", file, e.toString());
        }
    }
}
