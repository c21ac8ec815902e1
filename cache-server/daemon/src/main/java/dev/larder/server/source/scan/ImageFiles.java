package dev.larder.server.source.scan;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.ArrayName;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.layout.Names;
import dev.larder.npy.Dtype;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import dev.larder.reader.Selection;
import dev.larder.server.source.ColumnArrays;
import dev.larder.server.source.Extents;
import dev.larder.server.source.FileTable;
import dev.larder.server.source.Partitioning;
import dev.larder.server.source.Refusal;
import dev.larder.server.source.ScanSettings;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceIdentity;
import dev.larder.server.source.formats.ImageFormat;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CancellationException;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Makes the images of a folder a column of their bytes, as they are, with their paths and the numbers of their classes. The folder
 * that an image lies in is its class; folders above that are splits, each with columns of its own, such as {@code train/image}. All
 * splits number the classes alike.
 */
final class ImageFiles implements Format {
    /** The name of this kind. */
    static final String KIND = "images";

    @Override
    public @Nullable String kindOf(String fileName) {
        return ImageFormat.isNamedSo(fileName) ? KIND : null;
    }

    @Override
    public void look(FileTable files, Findings found) {
        if (!found.options().keys().isEmpty()) {
            throw Failure.of(ErrorCode.USAGE, "--columns cannot be used with --as images")
                    .with("keys", found.options().keys())
                    .remedy("remove --columns; --exclude leaves files and folders out");
        }
        FileTable images = files.only(ImageFormat::isNamedSo); // a file alone may be called otherwise
        found.read(images.size());
        if (!images.isEmpty()) {
            new Columns(images, found).add();
        } else if (found.isSound()) {
            throw found.nothing("files of these kinds are read: " + ImageFormat.SUFFIXES);
        }
    }

    /** Makes the columns of one source. */
    private static final class Columns {
        private static final String IMAGE = "image";
        private static final String PATH = "path";
        private static final String LABEL = "label";
        private static final String CLASSES = "classes";
        private static final int MOST_NAMED = 5;

        private final FileTable images;
        private final Findings found;
        private final ScanSettings settings;

        Columns(FileTable images, Findings found) {
            this.images = images;
            this.found = found;
            this.settings = found.settings();
        }

        /** Adds the columns to the findings, or refusals. */
        void add() {
            List<LarderException> misplaced = new Refusals();
            refuseOtherDepths(misplaced);
            Map<String, FileTable> splits = splits(misplaced);
            boolean isChecked = !settings.checksLater() || !found.isSound() || !misplaced.isEmpty() || hasEmptyOne();
            if (isChecked) {
                refuseWhatIsNoImage();
            }
            settings.onChecked().accept(images.size());
            found.refusals().addAll(misplaced);
            notes().forEach(found::note);
            if (!found.isSound()) {
                return;
            }
            Map<String, Integer> classes = classes();
            splits.forEach((split, files) -> addSplit(split, files, classes, isChecked));
            if (!classes.isEmpty()) {
                texts(CLASSES, classes.keySet())
                        .forEach(part -> found.add(part.withPartitioning(Partitioning.REPLICATED)));
            }
        }

        private boolean hasEmptyOne() {
            return IntStream.range(0, images.size()).anyMatch(i -> images.byteSize(i) == 0);
        }

        private void refuseWhatIsNoImage() {
            IntStream.range(0, images.size())
                    .parallel()
                    .mapToObj(this::objection)
                    .filter(Objects::nonNull)
                    .forEachOrdered(found.refusals()::add);
        }

        private @Nullable LarderException objection(int index) {
            if (settings.isCancelled().getAsBoolean()) {
                throw new CancellationException("cancelled while scanning");
            }
            try {
                ImageFormat.require(images.path(index));
                return null;
            } catch (LarderException e) {
                if (e.code() != ErrorCode.BAD_INPUT) {
                    throw e;
                }
                return e;
            }
        }

        /** Refuses images next to the folders of classes: they would have no class, or turn the folders into splits. */
        private void refuseOtherDepths(List<LarderException> misplaced) {
            int[] depths = images.folders().stream().mapToInt(Columns::depth).toArray();
            int usual = usualDepth(depths);
            int example = IntStream.range(0, images.size())
                    .filter(i -> depths[images.folder(i)] == usual)
                    .findFirst()
                    .orElseThrow();
            for (int i = 0; i < images.size(); i++) {
                int other = depths[images.folder(i)];
                if (other != usual) {
                    misplaced.add(Refusal.unfit(
                            images.path(i),
                            "it is " + other + " folders deep, but " + images.path(example) + " " + usual
                                    + ": the folder of an image is its class",
                            "move images to the same depth, or leave folders out with --exclude"));
                }
            }
        }

        /** Returns the most frequent depth of images; if two are equally frequent, that of the first image. */
        private int usualDepth(int[] depths) {
            Map<Integer, Integer> counts = new LinkedHashMap<>();
            IntStream.range(0, images.size()).forEach(i -> counts.merge(depths[images.folder(i)], 1, Integer::sum));
            int most = Collections.max(counts.values());
            return counts.keySet().stream()
                    .filter(depth -> Objects.requireNonNull(counts.get(depth)) == most)
                    .findFirst()
                    .orElseThrow();
        }

        /** Returns sentences about files that are not taken, and about images that the loader may not be able to decode. */
        private List<String> notes() {
            Map<String, Integer> others = new TreeMap<>();
            FileTable files = found.listing().files();
            int webp = 0;
            for (int i = 0; i < files.size(); i++) {
                String suffix = suffix(files.name(i));
                if (suffix.equals(".webp")) {
                    webp++;
                } else if (!ImageFormat.isNamedSo(files.name(i))) {
                    others.merge(suffix, 1, Integer::sum);
                }
            }
            List<String> notes = new ArrayList<>();
            if (!others.isEmpty()) {
                String most = others.entrySet().stream()
                        .sorted(Map.Entry.<String, Integer>comparingByValue().reversed())
                        .limit(MOST_NAMED)
                        .map(other -> other.getValue() + " " + Names.printable(other.getKey()))
                        .collect(Collectors.joining(", "));
                notes.add("not taken by --as images, which takes " + ImageFormat.SUFFIXES + ": " + most
                        + (others.size() > MOST_NAMED ? ", …" : ""));
            }
            if (webp > 0) {
                notes.add("images called .webp: " + webp
                        + "; the Java loader decodes WebP only with a plug-in of ImageIO on its"
                        + " class path; convert them to JPEG or PNG if it has none");
            }
            return notes;
        }

        private static String suffix(String path) {
            String name = path.substring(path.lastIndexOf('/') + 1);
            int dot = name.lastIndexOf('.');
            return dot < 0 ? "without a suffix" : name.substring(dot).toLowerCase(Locale.ROOT);
        }

        private static int depth(String folder) {
            return (int) folder.chars().filter(c -> c == '/').count();
        }

        /** Returns the path of a folder of images without the class, with a slash at its end; empty if there is no more. */
        private static String split(String folder) {
            return folder.substring(0, folder.lastIndexOf('/', folder.length() - 2) + 1);
        }

        private static String className(String folder) {
            return folder.substring(split(folder).length(), Math.max(0, folder.length() - 1));
        }

        /** Returns the images below each folder of folders of classes, by that folder's path with a slash at its end. */
        private Map<String, FileTable> splits(List<LarderException> misplaced) {
            Map<String, FileTable> splits = new TreeMap<>();
            List<FileTable> tables = new ArrayList<>();
            for (String folder : images.folders()) {
                tables.add(splits.computeIfAbsent(split(folder), split -> {
                    refuseName(split, misplaced);
                    return images.empty();
                }));
            }
            if (splits.size() == 1) {
                splits.replaceAll((split, none) -> images);
                return splits;
            }
            for (int i = 0; i < images.size(); i++) {
                tables.get(images.folder(i)).add(images, i);
            }
            return splits;
        }

        private void refuseName(String split, List<LarderException> misplaced) {
            String above = split.isEmpty() ? "" : split.substring(0, split.length() - 1);
            String objection = above.isEmpty() ? null : Names.arrayObjection(Selection.storedName(above));
            if (objection != null) {
                misplaced.add(Refusal.unfit(
                        found.listing().root().resolve(above),
                        "its arrays cannot be called " + Names.printable(above) + ": " + objection,
                        "rename the folder, or leave it out with --exclude"));
            }
        }

        /** Returns the numbers of classes by their names, in the order of both; none where images lie in no folder. */
        private Map<String, Integer> classes() {
            TreeSet<String> names = new TreeSet<>();
            if (depth(images.folders().get(0)) > 0) {
                images.folders().forEach(folder -> names.add(className(folder)));
            }
            Map<String, Integer> numbers = new TreeMap<>();
            names.forEach(name -> numbers.put(name, numbers.size()));
            return numbers;
        }

        private void addSplit(String split, FileTable files, Map<String, Integer> classes, boolean isChecked) {
            String dataset = found.dataset();
            String level = Selection.storedName(split);
            Extents data =
                    isChecked ? Extents.of(files) : Extents.of(files, ImageFormat::isBeginning, ImageFormat::require);
            found.add(AnyFiles.values(dataset, level + IMAGE, files, data));
            found.addAll(AnyFiles.offsets(dataset, level + IMAGE, files, found.memory()));
            found.addAll(texts(level + PATH, files.names()));
            if (!classes.isEmpty()) {
                NpyHeader header = NpyHeader.of(Dtype.parse("<i8"), Order.C, files.size());
                int[] numbers = files.folders().stream()
                        .mapToInt(folder -> Objects.requireNonNull(classes.get(className(folder))))
                        .toArray();
                LabelData labels = new LabelData(files.size(), row -> numbers[files.folder(row)]);
                List<SourceIdentity> first = List.of(files.get(0));
                found.add(
                        new SourceArray(new ArrayName(dataset, level + LABEL), header, labels, first, ColumnPart.NONE));
            }
        }

        private List<SourceArray> texts(String column, Iterable<String> texts) {
            return ColumnArrays.ofTexts(found.dataset(), column, texts, List.of(images.get(0)), found.memory());
        }
    }
}
