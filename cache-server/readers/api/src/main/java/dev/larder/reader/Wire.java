package dev.larder.reader;

import dev.larder.message.BadMessage;
import dev.larder.message.MessageReader;
import dev.larder.message.Messages;
import dev.larder.message.Messages.Page;
import dev.larder.message.Messages.UnknownFields;
import dev.larder.message.OptionalField;
import java.io.IOException;
import java.io.InputStream;
import java.util.Iterator;
import java.util.List;
import java.util.Spliterators;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * The messages between the daemon and a reader, on the reader's standard input and output: JSON objects, each ended by a NUL byte (see
 * {@link Messages}). Lists that are too long for one message continue in the next one.
 *
 * <pre>
 *  daemon   {"version":4,"kind":"hdf5"}
 *           {"as":"arrays","workers":2,"decimals":"","columns":[],"files":[{"path":"/data/x.h5","level":""}],"isLast":true}
 *  reader   {"offered":{"offers":[{"name":"a","part":"NONE","dtype":"&lt;f4","shape":[9,2]}]}}
 *           {"finished":{}}
 *  daemon   {"targets":[{"offer":0,"path":"/dev/shm/…/0.npy","offset":192,"byteSize":72}],"isLast":true}
 *  reader   {"progressed":{"bytes":72}}
 *           {"finished":{}}
 * </pre>
 *
 * <p>A reader of places gets addresses in place of files, and answers with objects. It may then get targets several times; an empty list
 * ends it. The end of its input ends every reader.
 */
public final class Wire {
    /** Changes with every change of the messages. */
    public static final int VERSION = 4;

    private Wire() {}

    /** The first message. Later versions may add to it, but it keeps these two. */
    record Greeting(int version, String kind) {}

    record ReadPage(
            String as,
            int workers,
            String decimals,
            List<String> columns,
            List<InputFile> files,
            @OptionalField boolean isLast) {}

    record PlacesPage(
            int connections,
            List<String> addresses,
            @OptionalField boolean isLast) {}

    record TargetsPage(List<Target> targets, @OptionalField boolean isLast) {}

    /** Returns the messages that start a {@link FormatReader}. */
    public static Stream<byte[]> start(String kind, ReadRequest request) {
        Stream<byte[]> columns = request.columns().isEmpty()
                ? Stream.of()
                : pages(request.columns(), (some, isLast) -> page(request, some, List.of(), false));
        Stream<byte[]> files = pages(request.files(), (some, isLast) -> page(request, List.of(), some, isLast));
        return Stream.concat(greeting(kind), Stream.concat(columns, files));
    }

    private static ReadPage page(ReadRequest request, List<String> columns, List<InputFile> files, boolean isLast) {
        return new ReadPage(request.as(), request.workers(), request.decimals(), columns, files, isLast);
    }

    /** Returns the messages that start a {@link PlaceReader}. */
    public static Stream<byte[]> start(String kind, PlaceRequest request) {
        return Stream.concat(
                greeting(kind),
                pages(request.addresses(), (some, isLast) -> new PlacesPage(request.connections(), some, isLast)));
    }

    /** Returns the messages that have offers or objects written. */
    public static Stream<byte[]> fill(List<Target> targets) {
        return pages(targets, TargetsPage::new);
    }

    private static Stream<byte[]> greeting(String kind) {
        return Stream.of(Messages.encode(new Greeting(VERSION, kind)));
    }

    private static <T> Stream<byte[]> pages(List<T> list, Page<T> toMessage) {
        Iterator<byte[]> pages = Messages.pages(list, toMessage);
        return StreamSupport.stream(Spliterators.spliteratorUnknownSize(pages, 0), false);
    }

    /**
     * Waits for the next answer of a reader.
     *
     * @throws java.io.EOFException if the reader has closed its output
     * @throws IOException if it has written anything else
     */
    public static Answer answer(MessageReader messages, InputStream in) throws IOException {
        try {
            return Messages.decode(messages.next(in), Answer.class, UnknownFields.REFUSED);
        } catch (BadMessage e) {
            throw new IOException(e.getMessage(), e);
        }
    }

    static byte[] message(Answer answer) {
        return Messages.encode(Answer.class, answer, Messages.MAX_BYTES);
    }
}
