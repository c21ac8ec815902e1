package dev.larder.server.source;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The keys of files of arrays, which {@code --columns} names. An array {@code SCENE_KEY} has a key, and so has a member of a file that is called
 * {@code KEY}. Finds the scenes that lack a key. Immutable.
 */
public final class ArrayKeys {
    private static final int LISTED = 10;

    /** Each key with the {@code _} before it. */
    private final List<String> longestFirst;

    /** Takes the names of {@code --columns}; none for all arrays. */
    public ArrayKeys(List<String> keys) {
        this.longestFirst = keys.stream()
                .map(key -> "_" + key)
                .sorted(Comparator.comparingInt(String::length).reversed())
                .toList();
    }

    /** Returns whether an array has one of the keys; all have if there are no keys. */
    public boolean isWanted(String arrayName) {
        return longestFirst.isEmpty() || suffixOf(arrayName) != null;
    }

    /**
     * Chooses members of a file for each key: the member with that name, else those whose names end in {@code _} and the key.
     *
     * @param onName takes each key that is the name of a member
     * @param onMissing takes each key that no member has
     */
    public Set<String> choose(Collection<String> members, Consumer<String> onName, Consumer<String> onMissing) {
        Set<String> all = new HashSet<>(members);
        if (longestFirst.isEmpty()) {
            return all;
        }
        Set<String> chosen = new HashSet<>();
        for (String suffix : longestFirst) {
            String key = suffix.substring(1);
            List<String> ending =
                    members.stream().filter(name -> name.endsWith(suffix)).toList();
            if (all.contains(key)) {
                chosen.add(key);
                onName.accept(key);
            } else if (ending.isEmpty()) {
                onMissing.accept(key);
            } else {
                chosen.addAll(ending);
            }
        }
        return chosen;
    }

    /** Returns whether {@link #choose} can choose a member, whatever the names of the others are. */
    public boolean mayChoose(String member) {
        return longestFirst.isEmpty()
                || longestFirst.stream().anyMatch(suffix -> member.endsWith(suffix) || suffix.equals("_" + member));
    }

    /** Returns the keys that are last levels of names, if no name ends in {@code _} and the key. */
    public Set<String> stems(Collection<String> arrayNames) {
        List<String> keys = keysOfNone(arrayNames);
        Set<String> stems = new HashSet<>();
        for (String name : keys.isEmpty() ? List.<String>of() : arrayNames) {
            stems.add(lastLevel(name));
        }
        stems.retainAll(keys);
        return stems;
    }

    /** Returns the part of a name of an array after its last slash. */
    public static String lastLevel(String arrayName) {
        return arrayName.substring(arrayName.lastIndexOf('/') + 1);
    }

    /** Returns the keys that no name ends in, sorted. */
    public List<String> keysOfNone(Collection<String> arrayNames) {
        Set<String> missing = new TreeSet<>(longestFirst);
        arrayNames.forEach(name -> missing.remove(String.valueOf(suffixOf(name))));
        return missing.stream().map(suffix -> suffix.substring(1)).toList();
    }

    /** Returns a filter without some of the keys. */
    public ArrayKeys without(Collection<String> keys) {
        return new ArrayKeys(longestFirst.stream()
                .map(suffix -> suffix.substring(1))
                .filter(key -> !keys.contains(key))
                .toList());
    }

    /** Returns the longest key that a name ends in; null if there is none. */
    public @Nullable String keyOf(String arrayName) {
        String suffix = suffixOf(arrayName);
        return suffix == null ? null : suffix.substring(1);
    }

    private @Nullable String suffixOf(String arrayName) {
        for (String suffix : longestFirst) {
            if (arrayName.endsWith(suffix)) {
                return suffix;
            }
        }
        return null;
    }

    /** Returns the failure that lists the missing files; null if every scene has every key. */
    public @Nullable LarderException incomplete(Path path, Collection<String> arrayNames) {
        Map<String, Set<String>> scenes = new TreeMap<>();
        for (String name : arrayNames) {
            String suffix = suffixOf(name);
            if (suffix != null) {
                String scene = name.substring(0, name.length() - suffix.length());
                scenes.computeIfAbsent(scene, s -> new HashSet<>()).add(suffix);
            }
        }
        List<String> missing = new ArrayList<>();
        scenes.forEach((scene, suffixes) -> longestFirst.stream()
                .filter(suffix -> !suffixes.contains(suffix))
                .sorted()
                .forEach(suffix -> missing.add(scene + suffix)));
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
