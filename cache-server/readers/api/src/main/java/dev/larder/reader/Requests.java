package dev.larder.reader;

import dev.larder.message.BadMessage;
import dev.larder.message.MessageReader;
import dev.larder.message.Messages;
import dev.larder.message.Messages.UnknownFields;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;

/** The reader's end of {@link Wire}: takes the messages of the daemon. Methods fail with {@link java.io.EOFException} if none is left. */
final class Requests {
    private final InputStream in;
    private final MessageReader messages = new MessageReader();

    Requests(InputStream in) {
        this.in = in;
    }

    /** Returns the kind of reader that is wanted, of the first message. */
    String kind() throws IOException {
        Wire.Greeting greeting;
        try {
            greeting = Messages.decode(messages.next(in), Wire.Greeting.class, UnknownFields.SKIPPED);
        } catch (BadMessage e) {
            throw new IOException("the daemon does not use version " + Wire.VERSION
                    + " of the wire, as this reader does: " + e.getMessage());
        }
        if (greeting.version() != Wire.VERSION) {
            throw new IOException("the daemon uses version " + greeting.version() + " of the wire, this reader version "
                    + Wire.VERSION);
        }
        return greeting.kind();
    }

    /** Returns the request to a {@link FormatReader}. */
    ReadRequest read() throws IOException {
        List<InputFile> files = new ArrayList<>();
        List<String> columns = new ArrayList<>();
        while (true) {
            Wire.ReadPage page = next(Wire.ReadPage.class);
            add(page.files(), files);
            add(page.columns(), columns);
            if (page.isLast()) {
                return new ReadRequest(files, page.as(), columns, page.workers(), page.decimals());
            }
        }
    }

    /** Returns the request to a {@link PlaceReader}. */
    PlaceRequest places() throws IOException {
        List<String> addresses = new ArrayList<>();
        while (true) {
            Wire.PlacesPage page = next(Wire.PlacesPage.class);
            add(page.addresses(), addresses);
            if (page.isLast()) {
                return new PlaceRequest(addresses, page.connections());
            }
        }
    }

    /** Returns the targets to fill; none if the daemon wants nothing more. */
    List<Target> targets() throws IOException {
        List<Target> targets = new ArrayList<>();
        while (true) {
            Wire.TargetsPage page = next(Wire.TargetsPage.class);
            add(page.targets(), targets);
            if (page.isLast()) {
                return targets;
            }
        }
    }

    private <T> T next(Class<T> type) throws IOException {
        return Messages.decode(messages.next(in), type, UnknownFields.REFUSED);
    }

    private static <T> void add(List<T> some, List<T> all) {
        WireLimits.requireAtMost(WireLimits.MOST_ENTRIES - all.size(), some.size(), "elements of a list");
        all.addAll(some);
    }
}
