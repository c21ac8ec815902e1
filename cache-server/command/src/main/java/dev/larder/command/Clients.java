package dev.larder.command;

import dev.larder.command.output.ClientRow;
import dev.larder.command.output.Json;
import dev.larder.layout.StoreLayout;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** Shows who holds what. */
@Command(
        name = "clients",
        description = {
            "Show the processes that hold datasets: what they hold stays in memory until they end or let go.",
            "Read from the store and from the kernel's table of locks, so that a daemon that hangs or is dead is no"
                    + " obstacle. Processes in other pid namespaces (containers) are not seen: their datasets count as leased"
                    + " in larder status all the same.",
            "A process that was forked shares its parent's locks: the workers of a Python DataLoader are not listed"
                    + " beside the process that opened the dataset."
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
