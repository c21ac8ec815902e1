package dev.larder.command;

import dev.larder.client.Larder;
import dev.larder.command.options.LoadArguments;
import dev.larder.command.options.SourceConverter;
import dev.larder.command.options.StandardInput;
import dev.larder.command.output.Outcome;
import dev.larder.command.terminal.ProgressOptions;
import dev.larder.internal.DatasetUpload;
import dev.larder.internal.control.ProgressListener;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.layout.StoreLocation;
import dev.larder.internal.protocol.Done;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.internal.protocol.Request;
import dev.larder.npy.NpyHeader;
import dev.larder.server.member.ClientSideLoad;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.Channels;
import java.nio.channels.ReadableByteChannel;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** Loads sources into the running daemon. */
@Command(
        name = "load",
        description = {
            "Load sources into the running daemon, and return when all are resident. Unchanged sources that are"
                    + " resident are not loaded again; changed ones become the next version of their dataset.",
            "A source is a folder, or a file of one of these kinds:",
            "  .npy, .npy.gz               one array;",
            "  .npz                        one array for each member;",
            "  .safetensors                one array for each tensor (BF16 as uint16, F8 as uint8);",
            "  -idxN-ubyte[.gz]            one array, as of MNIST;",
            "  .csv, .tsv[.gz]             numbers below a line of names: one array for each column, one matrix for"
                    + " numbered columns (x0, x1, …), one matrix for all with --dtype;",
            "  .arrow, .ipc, .feather      one array or column for each field; also folders of Hugging Face's datasets;",
            "  .tar[.gz]                   one column for each suffix, as of WebDataset;",
            "  .parquet, .h5, .zarr, …     one array or column for each column, dataset or feature, by readers, which"
                    + " larder readers lists, as .tfrecord, .tar.xz and .tar.zst;",
            "  .bin, .raw, .dat, any file  raw bytes, with --dtype and --shape;",
            "  http, https, s3, hdfs       addresses, such as s3://bucket/folder: files and folders as here;",
            "  -                           paths on standard input, one a line, or one .npy file, which becomes NAME/data.",
            "A folder gives arrays NAME/<relative path without suffix>, a file NAME/<name without suffix>, a file with"
                    + " several arrays NAME/<member>.",
            "In another user's store that is open to your group (serve --group), files are read with your own"
                    + " rights; what you load counts against the group's quota, and only you and the owner can"
                    + " replace or evict it."
        })
final class Load implements Callable<Integer> {
    @ParentCommand
    LarderCommand larder;

    @Parameters(
            arity = "1..*",
            paramLabel = "NAME=PATH",
            converter = SourceConverter.class,
            description = "What to load, and the name of its dataset.")
    List<LoadRequest.Source> sources;

    @Mixin
    LoadArguments options;

    @Mixin
    ProgressOptions progress;

    @Override
    public Integer call() {
        return progress.follow(larder.err(), "load", display -> {
            InputStream input = StandardInput.open();
            Done done = StandardInput.isArray(sources, input)
                    ? build(sources.get(0).name(), input, display)
                    : load(options.request(sources, larder.debug, input), display);
            display.done(done);
            if (done.files() > 0 && !progress.isJson()) {
                larder.err().println("larder: loaded: " + Outcome.counted(done));
            }
        });
    }

    /** Lets the daemon read if it runs as this user, else reads in this process. */
    private Done load(LoadRequest request, ProgressListener listener) {
        return StoreLocation.belongsToAnotherUser(larder.store())
                ? ClientSideLoad.load(larder.store(), request, listener)
                : larder.client().load(request, listener);
    }

    /** Publishes the array that standard input brings: it has no file that the daemon could read. */
    private Done build(String name, InputStream input, ProgressListener listener) {
        options.requireForArray(name);
        Request.Create create = new Request.Create(name, Larder.DEFAULT_TIMEOUT, 0, true, options.retention());
        try (Larder client = Larder.connect(larder.store());
                DatasetUpload upload =
                        DatasetUpload.begin(client.store(), create).orElseThrow();
                ReadableByteChannel data = Channels.newChannel(input)) {
            upload.add("data", NpyHeader.read(data, "standard input"), data, ColumnPart.NONE);
            return upload.publish(listener);
        } catch (IOException e) {
            throw Failure.of(StandardInput.codeOf(e), "cannot read standard input")
                    .with("name", name)
                    .with("reason", e)
                    .cause(e)
                    .remedy("check the program that writes it");
        }
    }
}
