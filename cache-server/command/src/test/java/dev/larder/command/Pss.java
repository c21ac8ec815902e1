package dev.larder.command;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What some processes have in memory, where a page that several have counts for each with its part: of mappings of a certain
 * length or longer, which are those of a large array whether it is a file or not, and of all others.
 */
record Pss(long longMappingsBytes, long otherBytes) {
    private static final Pattern MAPPING = Pattern.compile("([0-9a-f]+)-([0-9a-f]+) .*");
    private static final Pattern SHARE = Pattern.compile("Pss: +([0-9]+) kB");

    /** Adds up the mappings of processes. */
    static Pss of(List<Long> pids, long longBytes) throws IOException {
        long inLong = 0;
        long inOthers = 0;
        for (long pid : pids) {
            boolean isLong = false;
            for (String line : Files.readAllLines(Path.of("/proc/" + pid + "/smaps"))) {
                Matcher mapping = MAPPING.matcher(line);
                Matcher share = SHARE.matcher(line);
                if (mapping.matches()) {
                    isLong = address(mapping, 2) - address(mapping, 1) >= longBytes;
                } else if (share.matches()) {
                    long bytes = Long.parseLong(requireNonNull(share.group(1))) * 1024;
                    inLong += isLong ? bytes : 0;
                    inOthers += isLong ? 0 : bytes;
                }
            }
        }
        return new Pss(inLong, inOthers);
    }

    private static long address(Matcher mapping, int group) {
        return Long.parseUnsignedLong(requireNonNull(mapping.group(group)), 16);
    }
}
