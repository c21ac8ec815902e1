package dev.larder.server.source.scan;

import dev.larder.internal.layout.Names;
import dev.larder.reader.Selection;
import dev.larder.server.source.ColumnArrays;
import dev.larder.server.source.FileTable;
import dev.larder.server.source.Partitioning;
import dev.larder.server.source.Refusal;
import dev.larder.server.source.SourceIdentity;
import dev.larder.server.source.arrow.ArrowFolder;
import dev.larder.server.source.arrow.ArrowTable;
import dev.larder.server.source.arrow.Features;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Makes columns of Arrow files, and of folders that Hugging Face wrote: shards follow each other, each split and each folder below has
 * a level of names.
 */
final class ArrowFiles implements Format {
    private static final String KIND = "Arrow";

    @Override
    public @Nullable String kindOf(String fileName) {
        return ArrowFolder.isNamedSo(fileName) ? KIND : null;
    }

    @Override
    public boolean reads(String path, FileListing listing) {
        return ArrowFolder.isNamedSo(path) || ArrowFolder.isAbout(Format.fileName(path));
    }

    @Override
    public void look(FileTable files, Findings found) {
        new Search(found).add(); // of all files: some describe others
    }

    /** Finds the columns of one source. */
    private static final class Search {
        private static final String CLASSES = "classes";

        private final Findings found;
        private final Path root;
        private final FileTable files;
        private final Map<String, SourceIdentity> firstOf = new HashMap<>();

        /** The names of classes, by level and column. {@code filesOf} has the files that they come from. */
        private final Map<String, Map<String, List<String>>> labels = new TreeMap<>();

        private final Map<String, List<SourceIdentity>> filesOf = new TreeMap<>();

        Search(Findings found) {
            this.found = found;
            this.root = found.listing().root();
            this.files = found.listing().files();
        }

        /** Adds the columns to the findings, or refusals. */
        void add() {
            List<Table> tables = new ArrayList<>();
            if (found.listing().isFolder()) {
                folders().forEach((level, names) -> found.refusing(() -> addTables(level, names, tables)));
            } else {
                tables.add(new Table("", List.of(files.get(0)), Features.NONE, -1));
            }
            List<String> keys = found.options().keys();
            Selection search =
                    new Selection(keys, tables.stream().map(Table::level).toList());
            for (Table table : tables) {
                found.read(table.files.size());
                found.refusing(() -> add(table, search.in(table.level)));
            }
            found.retainMissing(
                    search,
                    tables.stream().map(table -> table.files.get(0).file()).toList());
            if (found.isSound()) {
                addClasses();
            }
        }

        /** Returns the Arrow files of each folder by its path, with the places of them in the table. */
        private Map<String, Map<String, Integer>> folders() {
            Map<String, Map<String, Integer>> folders = new TreeMap<>();
            for (int i = 0; i < files.size(); i++) {
                String name = files.name(i);
                String level = name.substring(0, name.lastIndexOf('/') + 1);
                String file = name.substring(level.length());
                if (ArrowFolder.isNamedSo(file)) {
                    folders.computeIfAbsent(level, folder -> new LinkedHashMap<>())
                            .put(file, i);
                } else if (ArrowFolder.isAbout(file)) {
                    found.read(1);
                    found.refusing(() -> ArrowFolder.requireSplits(root.resolve(level)));
                }
            }
            return folders;
        }

        private void addTables(String level, Map<String, Integer> names, List<Table> tables) {
            for (ArrowFolder.Group group : ArrowFolder.groups(root.resolve(level), List.copyOf(names.keySet()))) {
                List<SourceIdentity> identities = new ArrayList<>();
                group.names().forEach(name -> identities.add(files.get(Objects.requireNonNull(names.get(name)))));
                String stored = Selection.storedName(level + group.level());
                requireOther(stored, identities.get(0));
                tables.add(new Table(stored, identities, group.features(), group.rows()));
            }
        }

        /** Refuses a level that files of another name already have. */
        private void requireOther(String level, SourceIdentity file) {
            SourceIdentity other = firstOf.putIfAbsent(level, file);
            if (other != null) {
                throw Refusal.unfit(
                        file.file(),
                        "its arrays would be called " + level + "…, as those of " + other.file(),
                        "rename one of them, or leave one out with --exclude");
            }
        }

        /** Files that are one table; {@code rows} is -1 if no metadata has their number. */
        private record Table(String level, List<SourceIdentity> files, Features features, long rows) {}

        private void add(Table each, Selection.Table search) {
            String level = each.level;
            List<SourceIdentity> identities = each.files;
            String objection = level.isEmpty() ? null : Names.arrayObjection(level + "x");
            if (objection != null) {
                throw Refusal.unfit(
                        identities.get(0).file(),
                        "its arrays cannot be called " + Names.printable(level) + ": " + objection,
                        "rename it, or leave it out with --exclude");
            }
            boolean hasDoubles = !found.options().decimals().isEmpty();
            try (ArrowTable table = ArrowTable.read(identities, search, each.features, hasDoubles, found.settings())) {
                if (each.rows >= 0 && table.rows() != each.rows) {
                    throw Refusal.unfit(
                            identities.get(0).file(),
                            "it and its shards have " + table.rows() + " of the " + each.rows
                                    + " rows in dataset_info.json",
                            "copy the whole folder, or make it again");
                }
                found.addAll(table.arrays(found.dataset(), level, identities));
                if (!table.labels().isEmpty()) {
                    labels.put(level, table.labels());
                    filesOf.put(level, identities);
                }
            }
        }

        /** Adds the names of classes: one column for all splits if each has one labelled column with the same names; else one for each column. */
        private void addClasses() {
            Set<Map<String, List<String>>> distinct = new HashSet<>(labels.values());
            if (distinct.size() == 1 && distinct.iterator().next().size() == 1) {
                String level = labels.keySet().iterator().next();
                addNames(
                        CLASSES,
                        level,
                        distinct.iterator().next().values().iterator().next());
                return;
            }
            labels.forEach((level, columns) ->
                    columns.forEach((column, names) -> addNames(level + column + "." + CLASSES, level, names)));
        }

        private void addNames(String name, String level, List<String> names) {
            List<SourceIdentity> files = filesOf.getOrDefault(level, List.of());
            ColumnArrays.ofTexts(found.dataset(), name, names, files, found.memory())
                    .forEach(part -> found.add(part.withPartitioning(Partitioning.REPLICATED)));
        }
    }
}
