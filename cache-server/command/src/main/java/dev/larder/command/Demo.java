package dev.larder.command;

import dev.larder.command.demo.DemoProcesses;
import dev.larder.command.demo.DemoReader;
import dev.larder.command.output.Units;
import dev.larder.error.ErrorCode;
import dev.larder.internal.control.ControlClient;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.StoreLocation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** Shows the main job on a small dataset that it makes. */
@Command(
        name = "demo",
        description = {
            "Make a small dataset, read it in four JVMs at the same time, show that they share one copy, and clean up.",
            "Uses a store of its own, and ends the daemon that it starts."
        })
final class Demo implements Callable<Integer> {
    private static final long SEED = 42;
    private static final int READERS = 4;

    @ParentCommand
    LarderCommand larder;

    @Option(names = "--read", hidden = true, description = "Be one of the readers, with this seed.")
    @Nullable
    Long readerSeed;

    @Override
    public Integer call() throws IOException {
        if (readerSeed != null) {
            DemoReader.run(larder.store(), readerSeed, System.in, larder.out());
            return 0;
        }
        Path store = larder.store == null ? unusedStore() : larder.store();
        if (Files.exists(store, LinkOption.NOFOLLOW_LINKS)) { // the demo removes its store at the end
            throw Failure.of(ErrorCode.REFUSED, "the store of the demo exists")
                    .with("store", store)
                    .remedy("name a folder that does not exist, or leave out --store");
        }
        try (DemoProcesses processes = new DemoProcesses(store)) {
            processes.serve(SEED);
            long bytes = ControlClient.at(store).status().usedBytes();
            say("made demo/image and demo/label, %s: seed=%d store=%s", Units.size(bytes), SEED, store);
            say("%d JVMs read all rows at the same time, shuffled, in batches:", READERS);
            List<DemoProcesses.Reader> readers = processes.read(READERS);
            long mapped = 0;
            for (DemoProcesses.Reader reader : readers) {
                DemoReader.Report report = reader.report();
                long pages = reader.mappedBytes(store);
                mapped += pages;
                say(
                        "  pid %-8d %,d rows in %d ms; its share of the pages: %s",
                        reader.pid(), report.rows(), report.millis(), Units.size(pages));
            }
            say(
                    "all of them together map %s, one copy; %d copies would take %s",
                    Units.size(mapped), READERS, Units.size(READERS * bytes));
        }
        say("the daemon has ended, and %s is gone", store);
        say("now your data: larder serve --detach --load mine=/path/to/data");
        return 0;
    }

    private static Path unusedStore() {
        return StoreLocation.writablePlace()
                .resolve("larder-demo-" + ProcessHandle.current().pid());
    }

    private void say(String format, Object... values) {
        larder.out().println(String.format(Locale.ROOT, format, values));
        larder.out().flush();
    }
}
