package dev.larder.internal.protocol;

import static dev.larder.internal.protocol.MessageWriter.MESSAGE;
import static dev.larder.internal.protocol.MessageWriter.whole;

import dev.larder.internal.protocol.NewFilesRequest.NewFile;
import dev.larder.internal.protocol.sbe.NameTextDecoder;
import dev.larder.internal.protocol.sbe.NewFilesDecoder;
import dev.larder.internal.protocol.sbe.NewFilesEncoder;
import dev.larder.internal.protocol.sbe.PathTextDecoder;
import java.util.ArrayList;
import java.util.List;

/** Turns one request into bytes and back. */
final class NewFilesCodec {
    private static final int NAME = NameTextDecoder.lengthMaxValue();
    private static final int PATH = PathTextDecoder.lengthMaxValue();

    private NewFilesCodec() {}

    static int encode(NewFilesRequest request, MessageWriter writer) {
        NewFilesEncoder encoder = new NewFilesEncoder()
                .wrapAndApplyHeader(writer.buffer(), MESSAGE, writer.header())
                .token(request.token());
        NewFilesEncoder.FilesEncoder files = encoder.filesCount(request.files().size());
        for (NewFile file : request.files()) {
            files.next()
                    .bytes(file.byteSize())
                    .array(whole("array", file.array(), NAME))
                    .source(whole("source", file.source(), PATH));
        }
        return encoder.limit();
    }

    static NewFilesRequest decode(MessageReader reader) {
        NewFilesDecoder decoder = new NewFilesDecoder();
        decoder.wrap(reader.buffer(), MessageReader.BODY, reader.block(NewFilesDecoder.BLOCK_LENGTH), reader.version());
        long token = decoder.token();
        reader.groupHeader("files", decoder.limit());
        NewFilesDecoder.FilesDecoder group = decoder.files();
        List<NewFile> files = new ArrayList<>();
        while (group.hasNext()) {
            reader.groupBlock("files", decoder.limit(), Long.BYTES, group.actingBlockLength());
            long byteSize = group.next().bytes();
            if (byteSize < 0) {
                throw reader.malformed("bytes", byteSize);
            }
            String array = reader.text("array", NAME, decoder::limit, group::skipArray);
            String source = reader.text("source", PATH, decoder::limit, group::skipSource);
            files.add(new NewFile(array, byteSize, source));
        }
        return new NewFilesRequest(token, files);
    }
}
