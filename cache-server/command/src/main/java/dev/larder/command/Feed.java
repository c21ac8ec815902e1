package dev.larder.command;

import dev.larder.client.Column;
import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.command.feed.EpochRange;
import dev.larder.command.feed.FeedRun;
import dev.larder.command.feed.FeedStop;
import dev.larder.command.feed.FeedSummary;
import dev.larder.command.feed.FieldText;
import dev.larder.command.feed.ShardConverter;
import dev.larder.command.options.NameConverter;
import dev.larder.command.output.Json;
import dev.larder.command.output.JsonFields;
import dev.larder.command.output.Units;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.NearNames;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.loader.FailurePolicy;
import dev.larder.loader.Field;
import dev.larder.loader.Loader;
import dev.larder.loader.LoaderBuilder;
import dev.larder.loader.fanout.BatchPublisher;
import dev.larder.loader.fanout.BatchPublisher.SlowConsumer;
import dev.larder.loader.fanout.BatchPublisherBuilder;
import dev.larder.loader.sample.Shard;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** Publishes a loader's batches for any number of trainers. */
@Command(
        name = "feed",
        description = {
            "Publish batches of a dataset under a name, for any number of trainers of this machine, until the epochs are over:"
                    + " larder.batches(\"RUN\") in Python, SharedBatches in Java.",
            "Rows are shuffled, sharded and transformed once for all of them, as Loader does it. A step of a transform is"
                    + " one of: toFloat, cast(dtype), scale(factor,offset), normalize(mean,deviation),"
                    + " normalize([means],[deviations]), toBfloat16, fromBfloat16, randomCrop(height,width,padding),"
                    + " centerCrop(height,width), randomFlip(probability=0.5), flip, channelsFirst, oneHot(classes);"
                    + " for a column of encoded images, first of all, decode(colours=rgb,size=full,maxPixels=67108864), then resize(height,width,filter=bilinear),"
                    + " resizeShorter(side,filter=bilinear), randomResizedCrop(height,width,minArea=0.08,maxArea=1),"
                    + " colourJitter(brightness,contrast,saturation,hue). Images have the bytes of Pillow; decode(rgb,scaled) is"
                    + " faster for large JPEGs that become at most half as large, but changes their pixels.",
            "Ragged rows are padded to the longest of the batch, ARRAY.mask marks the rest; texts and files are their bytes back to"
                    + " back, ARRAY.offsets has their starts. Steps that change this come before all others: packed,"
                    + " padded, padLeft, toMultipleOf(multiple), fillValue(value), truncate(items), at(rows),"
                    + " lookup(keys,index). window(length) reads windows of a long array: stride(rows), offset(rows),"
                    + " random, within(offsets).",
            "Ctrl-C or SIGTERM ends the feed; its trainers get what was published, and then an error that says so."
        },
        footer = {
            "",
            "  larder feed run1 mnist --arrays train-images,train-labels --shuffle 42 \\",
            "    --epochs 0..9 --transform 'train-images=toFloat,normalize(0.286,0.353)'"
        },
        customSynopsis = {
            "larder feed RUN DATASET --arrays a,b [--batch-size N] [--shuffle SEED]",
            "            [--shard R/W] [--drop-last] [--epochs A..B] [--transform ARRAY=STEP,STEP]...",
            "            [--consumers N] [--on-slow block|drop] [--slots N] [--patience D]",
            "            [--timeout D] [--retries N] [--max-skipped N] [--until-eof] [--json]"
        })
final class Feed implements Callable<Integer> {
    private static final int LEAST_SEATS = 8;
    private static final Pattern NAME_IN_FRONT =
            Pattern.compile("^(batch|slots|consumers|patience|timeout)( size)?(?= must be )");

    @ParentCommand
    LarderCommand larder;

    @Spec
    CommandSpec spec;

    @Parameters(index = "0", paramLabel = "RUN", description = "The name that trainers ask for.")
    String name;

    @Parameters(index = "1", paramLabel = "DATASET", converter = NameConverter.class, description = "A dataset.")
    String source;

    @Option(
            names = "--arrays",
            paramLabel = "ARRAY",
            required = true,
            split = ",",
            description = "The arrays and columns with the rows of a sample. They have equally many rows.")
    List<String> arrays;

    @Option(
            names = "--batch-size",
            paramLabel = "N",
            defaultValue = "256",
            description = "Samples of a batch (default: 256).")
    int batchSize;

    @Option(
            names = "--shuffle",
            paramLabel = "SEED",
            description = "Visit the rows in PyTorch's random order for SEED + epoch. Default: as they lie.")
    @Nullable
    Long shuffle;

    @Option(
            names = "--shard",
            paramLabel = "R/W",
            converter = ShardConverter.class,
            description = "Visit the part of rank R of W, as DistributedSampler does.")
    @Nullable
    Shard shard;

    @Option(names = "--drop-last", description = "Leave out a last batch that is shorter than the others.")
    boolean dropLast;

    @Option(
            names = "--epochs",
            paramLabel = "A..B",
            defaultValue = "0",
            converter = EpochRange.Converter.class,
            description = "The epochs from A to B, including B; A.. continues until it is stopped (default: 0).")
    EpochRange epochs;

    @Option(
            names = "--transform",
            paramLabel = "ARRAY=STEP",
            description = "Transform the rows of an array: steps in their order, between commas. May be repeated.")
    List<String> transforms = List.of();

    @Option(
            names = "--consumers",
            paramLabel = "N",
            defaultValue = "1",
            description = "Trainers that the first batch waits for (default: 1).")
    int consumers;

    @Option(
            names = "--on-slow",
            paramLabel = "block|drop",
            defaultValue = "block",
            description =
                    "What happens when a trainer is behind by all slots: block (default) waits for it, up to --timeout;"
                            + " drop continues without it after --patience.")
    SlowConsumer onSlow;

    @Option(
            names = "--slots",
            paramLabel = "N",
            defaultValue = "8",
            description = "Batches that are kept for trainers that are behind (default: 8).")
    int slots;

    @Option(
            names = "--patience",
            paramLabel = "D",
            defaultValue = "1s",
            converter = Units.DurationConverter.class,
            description = "How long a slow trainer is waited for with --on-slow drop (default: 1s).")
    Duration patience;

    @Option(
            names = "--timeout",
            paramLabel = "D",
            defaultValue = "5m",
            converter = Units.DurationConverter.class,
            description = "How long a batch waits for trainers that are yet to come, or are slow (default: 5m).")
    Duration timeout;

    @Option(
            names = "--retries",
            paramLabel = "N",
            defaultValue = "0",
            description = "How often a row that cannot be read or transformed is tried again (default: 0).")
    int retries;

    @Option(
            names = "--max-skipped",
            paramLabel = "N",
            defaultValue = "0",
            description =
                    "Rows of an epoch that may be left out because they cannot be read or transformed, such as broken images;"
                            + " their batches are shorter, or empty. The next one ends the feed (default: 0).")
    long maxSkipped;

    @Option(
            names = "--until-eof",
            description = "End when standard input does: for programs that start a feed, which then ends with them.")
    boolean untilEof;

    @Option(names = "--json", description = "Print the summary as one JSON object, and no progress.")
    boolean json;

    @Override
    public Integer call() {
        larder.client().info(); // fails without a daemon, which removes the ring if this process is killed
        try (Larder store = Larder.connect(larder.store());
                Dataset dataset = store.dataset(source);
                BatchPublisher publisher = publisher(store);
                Loader loader = loader(dataset, publisher)) {
            FeedStop stop = FeedStop.install(publisher);
            if (untilEof) {
                stop.follow(System.in);
            }
            FeedRun run = new FeedRun(new StoreLayout(store.store()), loader, batchSize, publisher, stop);
            if (!json) {
                larder.out().println(name + ": " + loader + ", waits for consumers: " + consumers); // the name is ours
            }
            try {
                run.publish(epochs, json ? null : larder.err());
            } catch (RuntimeException | Error e) {
                summarize(dataset, run.summary(), e);
                throw e;
            }
            summarize(dataset, run.summary(), null);
            return 0;
        }
    }

    private Loader loader(Dataset dataset, BatchPublisher publisher) {
        try {
            LoaderBuilder builder = Loader.over(dataset)
                    .fields(fields(dataset))
                    .batchSize(batchSize)
                    .dropLast(dropLast)
                    .onFailure(FailurePolicy.retry(retries).thenSkip(maxSkipped))
                    .into(publisher.slots());
            if (shuffle != null) {
                builder.shuffle(shuffle);
            }
            if (shard != null) {
                builder.shard(shard);
            }
            return builder.build();
        } catch (IllegalArgumentException | IllegalStateException e) {
            throw wrongUsage(e);
        }
    }

    /** Reports a value that the builders refuse, which name it as the option is called, in front. */
    private ParameterException wrongUsage(RuntimeException refusal) {
        String message = String.valueOf(refusal.getMessage());
        String named = NAME_IN_FRONT
                .matcher(message)
                .replaceFirst(name -> "--" + name.group().replace(' ', '-'));
        return new ParameterException(spec.commandLine(), named, refusal);
    }

    /** Returns the fields of the arrays and columns, with their steps. */
    private Field[] fields(Dataset dataset) {
        Map<String, Column.Kind> kinds = new HashMap<>();
        dataset.columns().forEach(column -> kinds.put(column.name(), column.kind()));
        Map<String, String> steps = new HashMap<>();
        for (String transform : transforms) {
            String array = arrayOf(transform);
            if (steps.put(array, transform.substring(array.length() + 1)) != null) {
                throw new ParameterException(
                        spec.commandLine(), "two transforms of one array: '" + array + "' (join their steps with a comma)");
            }
        }
        return arrays.stream()
                .map(array -> FieldText.parse(array, kinds.get(array), steps.get(array)))
                .toArray(Field[]::new);
    }

    /** Returns which of the arrays a transform is for. Names may have an equals sign in them. */
    private String arrayOf(String transform) {
        int equals = transform.indexOf('=');
        if (equals < 1) {
            throw new ParameterException(
                    spec.commandLine(), "not a transform: '" + transform + "' (a transform is ARRAY=STEP,STEP)");
        }
        return arrays.stream()
                .filter(array -> transform.startsWith(array + "="))
                .max(Comparator.comparingInt(String::length))
                .orElseThrow(() -> noSuchArray(transform.substring(0, equals)));
    }

    private LarderException noSuchArray(String array) {
        List<String> near = NearNames.of(array, arrays);
        return Failure.of(ErrorCode.NOT_FOUND, "no such array to transform")
                .with("dataset", source)
                .with("array", array)
                .remedy((near.isEmpty() ? "" : "did you mean " + near.get(0) + "? ") + "--arrays names "
                        + String.join(", ", arrays));
    }

    private BatchPublisher publisher(Larder store) {
        try {
            BatchPublisherBuilder builder = BatchPublisher.of(store, name)
                    .slots(slots)
                    .consumers(consumers)
                    .seats(Math.max(LEAST_SEATS, consumers))
                    .onSlowConsumer(onSlow)
                    .patience(patience)
                    .timeout(timeout);
            return builder.open();
        } catch (IllegalArgumentException e) {
            throw wrongUsage(e);
        }
    }

    private void summarize(Dataset dataset, FeedSummary summary, @Nullable Throwable failure) {
        if (json) {
            JsonFields fields = new JsonFields()
                    .with("feed", name)
                    .with("dataset", dataset.name())
                    .with("version", dataset.version());
            larder.out()
                    .println(Json.document(summary.addTo(fields)
                            .with("code", failure == null ? 0 : code(failure))
                            .with("error", failure == null ? null : failure.getMessage())));
        } else {
            larder.out().println(name + ": " + summary.inWords());
        }
    }

    private static int code(Throwable failure) {
        return failure instanceof LarderException known ? known.rawCode() : ErrorCode.UNEXPECTED.number();
    }
}
