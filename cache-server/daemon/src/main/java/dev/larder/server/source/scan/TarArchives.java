package dev.larder.server.source.scan;

import dev.larder.reader.Selection;
import dev.larder.server.source.FileTable;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceIdentity;
import dev.larder.server.source.formats.TarMembers;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Makes columns of tar archives as WebDataset writes them: files with one name up to the first dot are a sample, and the rest of
 * the name is the column. Archives of one folder follow each other; each folder below has a level of names.
 */
final class TarArchives implements Format {
    @Override
    public @Nullable String kindOf(String fileName) {
        return TarMembers.isNamedSo(fileName) ? "tar" : null;
    }

    @Override
    public void look(FileTable archives, Findings found) {
        found.read(archives.size());
        Map<String, List<SourceIdentity>> folders = new TreeMap<>();
        for (int i = 0; i < archives.size(); i++) {
            String name = archives.name(i);
            String level = name.substring(0, name.lastIndexOf('/') + 1);
            folders.computeIfAbsent(level, folder -> new ArrayList<>()).add(archives.get(i));
        }
        Selection search = new Selection(found.options().keys(), folders.keySet());
        int links = 0;
        int skippedSamples = 0;
        for (Map.Entry<String, List<SourceIdentity>> folder : folders.entrySet()) {
            Selection.Table table = search.in(Selection.storedName(folder.getKey()));
            try (TarSamples samples = new TarSamples(found.dataset(), table, folder.getValue(), found.settings())) {
                List<SourceArray> arrays = samples.read(found.refusals());
                found.addAll(arrays);
                links += samples.links();
                skippedSamples += arrays.isEmpty() ? 0 : samples.skippedSamples();
            }
        }
        found.retainMissing(
                search,
                folders.values().stream().map(files -> files.get(0).file()).toList());
        if (links > 0) {
            found.note("skipped " + links + " links in archives; tar --dereference --hard-dereference packs the files");
        }
        if (skippedSamples > 0) {
            found.note("skipped " + skippedSamples + " samples in archives that have none of the columns");
        }
    }
}
