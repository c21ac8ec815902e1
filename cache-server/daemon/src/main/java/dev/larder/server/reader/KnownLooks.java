package dev.larder.server.reader;

import dev.larder.reader.ReadRequest;
import dev.larder.server.source.SourceIdentity;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The arrays that readers have found in files recently, so that unchanged files need no reader until their data is loaded. Thread-safe. */
final class KnownLooks {
    private static final int MOST = 256;
    private static final long MOST_WORDS_BYTES = 1 << 20;

    /** A file that is younger than this may change again and look the same. */
    private static final long YOUNG_NANOS = 1_000_000_000;

    private static final Map<Question, Offers> ANSWERS = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Question, Offers> eldest) {
            return size() > MOST;
        }
    };

    private KnownLooks() {}

    private record Question(String kind, List<SourceIdentity> files, ReadRequest request) {
        /** The number of threads changes no answer. */
        static Question of(ReaderSpec reader, List<SourceIdentity> files, ReadRequest request) {
            return new Question(
                    reader.kind(),
                    List.copyOf(files),
                    new ReadRequest(request.files(), request.as(), request.columns(), 1, request.decimals()));
        }
    }

    /** Returns the arrays in files that have not changed since; null if they are unknown. */
    static @Nullable Offers find(ReaderSpec reader, List<SourceIdentity> files, ReadRequest request) {
        synchronized (ANSWERS) {
            return ANSWERS.get(Question.of(reader, files, request));
        }
    }

    /** Forgets arrays that are no longer in the files. */
    static void remove(ReaderSpec reader, List<SourceIdentity> files, ReadRequest request) {
        synchronized (ANSWERS) {
            ANSWERS.remove(Question.of(reader, files, request));
        }
    }

    /** Remembers arrays, unless they are many, or the files may change without notice. */
    static void add(ReaderSpec reader, List<SourceIdentity> files, ReadRequest request, Offers offers) {
        long nowNanos = System.currentTimeMillis() * 1_000_000;
        boolean isYoung = files.stream().anyMatch(file -> file.modifiedNanos() > nowNanos - YOUNG_NANOS);
        if (isYoung
                || offers.wordsBytes() > MOST_WORDS_BYTES
                || files.size() > MOST
                || request.columns().size() > MOST) {
            return;
        }
        synchronized (ANSWERS) {
            ANSWERS.put(Question.of(reader, files, request), offers);
        }
    }
}
