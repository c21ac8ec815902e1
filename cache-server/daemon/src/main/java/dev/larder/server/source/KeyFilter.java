package dev.larder.server.source;

import dev.larder.error.ErrorCode;
import dev.larder.error.Failure;
import dev.larder.error.LarderException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Keeps the files {@code SCENE_KEY} of the keys asked for, and knows which scenes lack one. */
final class KeyFilter {
    private static final int LISTED = 10;

    private final List<String> longestFirst;

    KeyFilter(List<String> keys) {
        this.longestFirst = keys.stream()
                .sorted(Comparator.comparingInt(String::length).reversed())
                .toList();
    }

    /** Returns the files of the keys; all of them if there are no keys. */
    List<SourceFile> keep(List<SourceFile> files) {
        return longestFirst.isEmpty()
                ? files
                : files.stream()
                        .filter(file -> file.hasMembers() || keyOf(file.arrayName()) != null)
                        .toList();
    }

    /** Returns whether an array is wanted by its own name. */
    boolean keeps(SourceArray array) {
        return longestFirst.isEmpty() || keyOf(array.name().array()) != null;
    }

    /** Returns the longest key that a name ends in; null if there is none. */
    @Nullable
    String keyOf(String arrayName) {
        return longestFirst.stream()
                .filter(key -> arrayName.endsWith("_" + key))
                .findFirst()
                .orElse(null);
    }

    /** Returns the failure that lists what is missing; null if every scene has every key. */
    @Nullable
    LarderException incomplete(Path path, List<SourceFile> kept) {
        Map<String, Set<String>> scenes = new TreeMap<>();
        for (SourceFile file : kept) {
            String key = file.hasMembers() ? null : keyOf(file.arrayName());
            if (key != null) {
                String scene = file.arrayName().substring(0, file.arrayName().length() - key.length() - 1);
                scenes.computeIfAbsent(scene, s -> new HashSet<>()).add(key);
            }
        }
        List<String> missing = new ArrayList<>();
        scenes.forEach((scene, keys) -> longestFirst.stream()
                .filter(key -> !keys.contains(key))
                .sorted()
                .forEach(key -> missing.add(scene + "_" + key)));
        return missing.isEmpty() ? null : failure(path, scenes.size(), missing);
    }

    private static LarderException failure(Path path, int scenes, List<String> missing) {
        boolean more = missing.size() > LISTED;
        return Failure.of(ErrorCode.BAD_INPUT, "source is incomplete")
                .with("path", path)
                .with("scenes", scenes)
                .with("missingFiles", missing.size())
                .with(more ? "firstMissing" : "missing", missing.subList(0, Math.min(LISTED, missing.size())))
                .remedy("add the missing files, or ask for fewer keys");
    }
}
