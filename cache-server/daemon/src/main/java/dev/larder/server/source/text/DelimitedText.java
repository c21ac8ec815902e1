package dev.larder.server.source.text;

import de.siegmar.fastcsv.reader.CsvParseException;
import de.siegmar.fastcsv.reader.CsvReader;
import de.siegmar.fastcsv.reader.CsvRecord;
import de.siegmar.fastcsv.reader.FieldMismatchStrategy;
import dev.larder.error.LarderException;
import dev.larder.server.source.ColumnArrays;
import dev.larder.server.source.Refusal;
import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.regex.Pattern;

/** Reads CSV or TSV whose first line names the columns. Empty lines are skipped, as in tables of numbers. */
final class DelimitedText {
    private static final Pattern NUMBER = Pattern.compile("\\s*[+-]?(\\d+\\.?\\d*|\\.\\d+)([eE][+-]?\\d+)?\\s*");

    /** What a column without a name is called, before its number from 0. */
    static final String UNNAMED = "column";

    private final Path file;
    private final char separator;

    DelimitedText(Path file, char separator) {
        this.file = file;
        this.separator = separator;
    }

    void read(Reader reader, CellSink sink) throws IOException {
        long line = 1;
        try (CsvReader<CsvRecord> records = CsvReader.builder()
                .fieldSeparator(separator)
                .allowUnclosedQuote(false)
                .missingFieldStrategy(FieldMismatchStrategy.IGNORE)
                .extraFieldStrategy(FieldMismatchStrategy.IGNORE)
                .detectBomHeader(false)
                .maxBufferSize(LineReader.MAX_LENGTH)
                .ofCsvRecord(reader)) {
            Iterator<CsvRecord> rest = records.iterator();
            List<String> columns = rest.hasNext() ? columns(rest.next()) : List.of();
            if (columns.isEmpty()) {
                throw LineReader.refusal(file, 1, "the line with the names of the columns is missing");
            }
            columns.forEach(sink::column);
            while (rest.hasNext()) {
                CsvRecord row = rest.next();
                line = row.getStartingLineNumber();
                read(row, columns, sink);
            }
        } catch (BadCell e) {
            throw LineReader.refusal(file, line, e.reason());
        } catch (CsvParseException e) {
            if (e.getCause() instanceof IOException cause) {
                throw cause;
            }
            throw Refusal.badTable(file, e);
        } catch (UncheckedIOException e) {
            throw e.getCause() == null ? new IOException(e) : e.getCause();
        }
    }

    /** Returns what columns are called, as those of a table of numbers are. */
    private List<String> columns(CsvRecord header) {
        List<String> columns = new ArrayList<>();
        if (header.getFieldCount() == 1 && header.getField(0).isBlank()) {
            return columns;
        }
        if (header.getFields().stream().allMatch(field -> NUMBER.matcher(field).matches())) {
            throw Refusal.atLine(
                    file,
                    1,
                    "the first line has numbers instead of column names",
                    "if it is names, write x0,x1,x2 there: sed -i '1s/[0-9][0-9]*/x&/g' FILE; if it is a row, add a line of"
                            + " names above it");
        }
        for (String field : header.getFields()) {
            String name = field.startsWith("\uFEFF") ? field.substring(1) : field;
            columns.add(ColumnArrays.cleanName(name.strip(), UNNAMED + columns.size()));
        }
        if (new HashSet<>(columns).size() < columns.size()) {
            throw LineReader.refusal(file, 1, "two columns have the same name: " + columns);
        }
        return columns;
    }

    private void read(CsvRecord row, List<String> columns, CellSink sink) {
        if (row.getFieldCount() != columns.size()) {
            throw tornRow(row, columns.size());
        }
        for (int i = 0; i < columns.size(); i++) {
            String text = row.getField(i);
            sink.cell(columns.get(i), text, IntegerText.isCanonical(text));
        }
        sink.endRow();
    }

    private LarderException tornRow(CsvRecord row, int columns) {
        return LineReader.refusal(
                file,
                row.getStartingLineNumber(),
                "it has " + row.getFieldCount() + " fields, and the first line has " + columns);
    }
}
