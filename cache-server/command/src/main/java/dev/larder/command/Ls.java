package dev.larder.command;

import dev.larder.command.options.NameConverter;
import dev.larder.command.options.NamePattern;
import dev.larder.command.output.ArrayText;
import dev.larder.command.output.Json;
import dev.larder.command.output.JsonFields;
import dev.larder.command.output.ListedRow;
import dev.larder.command.rows.KnownArrays;
import dev.larder.command.rows.StoredRows;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.protocol.ArrayRow;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** Lists arrays and columns. */
@Command(
        name = "ls",
        description = {
            "List arrays and columns, all of them or those that PATTERN names.",
            "PATTERN is a dataset (mnist), an array or a column (mnist/train-images), or has wildcards (quote them):"
                    + " larder ls 'mnist/*-labels'. Exit code 4 if nothing matches.",
            "Computed rows are listed by their name and the beginning of their key; larder info tells how many are there.",
            "Without PATTERN a dataset of more than 20 arrays and columns is one line, which ends in a slash.",
            "If no daemon runs, this reads the files of the store, and prints a note about that on standard error."
        })
final class Ls implements Callable<Integer> {
    @ParentCommand
    LarderCommand larder;

    @Parameters(arity = "0..1", paramLabel = "PATTERN", description = "What to list (default: everything).")
    @Nullable
    String pattern;

    @Option(
            names = "--all",
            description = "Show all details, every array and column on its own line, evicted datasets, and versions"
                    + " that only wait for their last reader.")
    boolean all;

    @Option(names = "--json", description = "Print one JSON list, with all details of each array.")
    boolean json;

    @Override
    public Integer call() {
        NamePattern wanted = pattern == null ? null : new NamePattern(pattern);
        KnownArrays known = larder.arrays();
        List<StoredRows> computed =
                wanted == null ? StoredRows.all(larder.store()) : StoredRows.matching(larder.store(), wanted::matches);
        List<ArrayRow> rows = wanted == null ? all(known) : matching(known, wanted, computed.isEmpty());
        if (json) {
            Stream<JsonFields> fields = Stream.concat(
                    rows.stream().map(Json::fields), computed.stream().map(StoredRows::fields));
            Json.print(larder.out(), fields);
        } else {
            List<ListedRow> listed = new ArrayList<>(listed(rows));
            computed.forEach(one -> listed.add(one.listed()));
            print(listed);
        }
        return 0;
    }

    private List<ArrayRow> all(KnownArrays known) {
        return all || json ? known.list("", all) : known.list(ListedRow.FEW);
    }

    /** Returns one line for each column, except if the pattern names an array of it. */
    private List<ListedRow> listed(List<ArrayRow> rows) {
        List<ListedRow> listed = ListedRow.of(rows);
        return pattern == null || listed.stream().anyMatch(new NamePattern(pattern))
                ? listed
                : rows.stream().map(ListedRow::ofArray).toList();
    }

    private void print(List<ListedRow> rows) {
        if (pattern != null || all) {
            ArrayText.table(rows, all).forEach(larder.out()::println);
            return;
        }
        List<ListedRow> few = ListedRow.brief(rows);
        ArrayText.table(few, false).forEach(larder.out()::println);
        few.stream()
                .filter(ListedRow::isWholeDataset)
                .findFirst()
                .ifPresent(row -> larder.err()
                        .println("larder: note: a name that ends in / is a dataset of many arrays; larder ls "
                                + row.name() + " lists them"));
    }

    /** Returns the matching arrays, even evicted ones if the pattern is a name. */
    private List<ArrayRow> matching(KnownArrays known, NamePattern wanted, boolean isRequired) {
        List<ArrayRow> candidates = known.list(wanted.prefix(), true).stream()
                .filter(row -> all || row.state() != ArrayRow.State.RETIRED)
                .toList();
        Set<ArrayRow> chosen = ListedRow.of(candidates).stream()
                .filter(wanted)
                .flatMap(row -> row.arrays().stream())
                .collect(Collectors.toSet());
        List<ArrayRow> rows = candidates.stream().filter(chosen::contains).toList();
        if (rows.isEmpty()) { // an array that is part of a column has no line of its own
            rows = candidates.stream().filter(row -> wanted.matches(row.name())).toList();
        }
        if (rows.isEmpty() && isRequired) {
            throw nothingMatches(known, wanted);
        }
        return rows;
    }

    private LarderException nothingMatches(KnownArrays known, NamePattern wanted) {
        if (wanted.isName()) {
            try {
                known.info(NameConverter.withoutEnd(wanted.text()));
            } catch (LarderException e) {
                if (e.code() == ErrorCode.NOT_FOUND) {
                    return e; // with near names
                }
                throw e;
            }
        }
        return Failure.of(ErrorCode.NOT_FOUND, "no array matches")
                .with("pattern", wanted.text())
                .with("store", larder.store())
                .remedy("larder ls lists all");
    }
}
