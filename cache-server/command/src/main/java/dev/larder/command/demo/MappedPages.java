package dev.larder.command.demo;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Reads the resident pages of mappings from {@code /proc/PID/smaps} (proc(5)). */
public final class MappedPages {
    private static final int KIB = 1024;

    private MappedPages() {}

    /** Returns the bytes of a process's pages of files in a folder. A page that n processes map counts 1/n (Pss). */
    public static long proportionalBytes(long pid, Path folder) throws IOException {
        String prefix = folder.toRealPath() + "/";
        boolean isOfFolder = false;
        long bytes = 0;
        for (String line : Files.readAllLines(Path.of("/proc/" + pid + "/smaps"))) {
            String[] words = line.split(" +", 6);
            if (words[0].contains("-")) {
                isOfFolder = words.length == 6 && words[5].startsWith(prefix);
            } else if (isOfFolder && words[0].equals("Pss:")) {
                bytes += Long.parseLong(words[1]) * KIB;
            }
        }
        return bytes;
    }
}
