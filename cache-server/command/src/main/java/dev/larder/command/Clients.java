package dev.larder.command;

import dev.larder.command.output.ClientRow;
import dev.larder.command.output.Json;
import dev.larder.internal.layout.StoreLayout;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** Shows processes and the datasets that they hold. */
@Command(
        name = "clients",
        description = {
            "Show the processes that hold datasets or read feeds. What they hold stays in memory until they exit or release"
                    + " it.",
            "Reads the store and the kernel's table of locks, so it works even when the daemon hangs or is dead."
                    + " Processes in other pid namespaces (containers) are not seen, but larder status counts their"
                    + " datasets as leased.",
            "A forked process shares its parent's locks: the workers of a Python DataLoader are not listed beside"
                    + " the process that opened the dataset."
        })
final class Clients implements Callable<Integer> {
    @ParentCommand
    LarderCommand larder;

    @Option(names = "--json", description = "Print one JSON list.")
    boolean json;

    @Override
    public Integer call() {
        List<ClientRow> rows = ClientRow.of(new StoreLayout(larder.store()));
        if (json) {
            larder.out().println(Json.document(rows.stream().map(Json::fields).toList()));
        } else {
            ClientRow.table(rows).forEach(larder.out()::println);
        }
        return 0;
    }
}
