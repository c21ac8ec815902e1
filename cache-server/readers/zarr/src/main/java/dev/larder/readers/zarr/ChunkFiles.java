package dev.larder.readers.zarr;

import dev.larder.reader.InputFile;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The files below a folder with metadata: all that an array may open.
 *
 * @param folder the path of the folder, with a slash at its end
 * @param numbers the numbers of the files in the request, by their paths below the folder
 * @param prefix the path of the array below the folder, with a slash at its end; empty if the folder is the array's
 */
record ChunkFiles(List<InputFile> inputs, String folder, NavigableMap<String, Integer> numbers, String prefix) {
    /** Returns the number of a file by its path below the array; null if there is none. */
    @Nullable
    Integer find(String key) {
        return numbers.get(prefix + key);
    }

    /** Returns whether the array has any files. */
    boolean hasAny() {
        String first = numbers.ceilingKey(prefix);
        return first != null && first.startsWith(prefix);
    }

    /** Returns the files of the array, by their paths below it. */
    Map<String, Integer> all() {
        Map<String, Integer> all = new TreeMap<>();
        for (Map.Entry<String, Integer> file : numbers.tailMap(prefix).entrySet()) {
            if (!file.getKey().startsWith(prefix)) {
                break;
            }
            all.put(file.getKey().substring(prefix.length()), file.getValue());
        }
        return all;
    }

    Path path(int number) {
        return inputs.get(number).path();
    }

    /** Returns the same files for an array below the folder. */
    ChunkFiles below(String path) {
        return new ChunkFiles(inputs, folder, numbers, prefix + path + "/");
    }
}
