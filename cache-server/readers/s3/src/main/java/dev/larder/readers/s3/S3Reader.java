package dev.larder.readers.s3;

import dev.larder.reader.BadSource;
import dev.larder.reader.PlaceObject;
import dev.larder.reader.PlaceReader;
import dev.larder.reader.Retries;
import java.io.IOException;
import java.io.InputStream;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.s3.model.GetObjectRequest;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.HeadObjectRequest;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Request;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Response;
import software.amazon.awssdk.services.s3.model.S3Object;

/** Reads objects of S3 buckets: one, or all with a prefix that ends with a slash. */
public final class S3Reader implements PlaceReader {
    private static final long SECOND = 1_000_000_000L;

    private final Bucket.Client client = new Bucket.Client();

    @Override
    public String kind() {
        return "s3";
    }

    @Override
    public void list(String address, int connections, Consumer<PlaceObject> found) throws IOException {
        Bucket at = Bucket.of(address);
        Optional<PlaceObject> alone = at.isFolder() ? Optional.empty() : alone(at);
        if (alone.isPresent()) {
            found.accept(alone.get());
            return;
        }
        String prefix = at.isFolder() ? at.key() : at.key() + "/";
        String next = null;
        boolean isAny = false;
        do {
            ListObjectsV2Response page = page(at, prefix, next);
            for (S3Object object : page.contents()) {
                if (!object.key().endsWith("/")) { // otherwise it is the mark of a folder
                    found.accept(object(at, object, prefix));
                    isAny = true;
                }
            }
            next = Boolean.TRUE.equals(page.isTruncated()) ? page.nextContinuationToken() : null;
        } while (next != null);
        if (!isAny) {
            throw Bucket.bad(
                    "no object is there: bucket=" + at.name() + " key=" + at.key() + " credentials=" + client.tried(),
                    "check bucket and prefix");
        }
    }

    private ListObjectsV2Response page(Bucket at, String prefix, @Nullable String next) throws IOException {
        List<ListObjectsV2Response> page = new ArrayList<>();
        ListObjectsV2Request request = ListObjectsV2Request.builder()
                .bucket(at.name())
                .prefix(prefix)
                .continuationToken(next)
                .build();
        Retries.run(() -> page.add(client.ask(s3 -> s3.listObjectsV2(request))));
        return page.get(0);
    }

    /** Returns the object with exactly this key, if it exists and is accessible. */
    private Optional<PlaceObject> alone(Bucket at) throws IOException {
        List<HeadObjectResponse> head = new ArrayList<>();
        HeadObjectRequest request =
                HeadObjectRequest.builder().bucket(at.name()).key(at.key()).build();
        Retries.run(() -> client.askIfThere(s3 -> s3.headObject(request)).ifPresent(head::add));
        return head.stream()
                .findFirst()
                .map(object -> new PlaceObject(
                        at.address(at.key()),
                        at.key().substring(at.key().lastIndexOf('/') + 1),
                        true,
                        object.contentLength(),
                        nanos(object.lastModified()),
                        tag(object.eTag()),
                        true));
    }

    private static PlaceObject object(Bucket at, S3Object object, String prefix) {
        return new PlaceObject(
                at.address(object.key()),
                object.key().substring(prefix.length()),
                false,
                object.size(),
                nanos(object.lastModified()),
                tag(object.eTag()),
                true);
    }

    private static long nanos(@Nullable Instant instant) {
        return instant == null ? 0 : Math.multiplyExact(instant.getEpochSecond(), SECOND) + instant.getNano();
    }

    private static String tag(@Nullable String tag) {
        return tag == null ? "" : tag;
    }

    @Override
    public InputStream open(PlaceObject object, long from, long end) throws IOException {
        Bucket at = Bucket.of(object.address());
        GetObjectRequest.Builder request =
                GetObjectRequest.builder().bucket(at.name()).key(at.key());
        if (from > 0 || end < object.byteSize()) {
            request.range("bytes=" + from + "-" + (end - 1));
        }
        if (!object.tag().isEmpty()) {
            request.ifMatch(object.tag());
        }
        var answer = client.ask(s3 -> s3.getObject(request.build()));
        GetObjectResponse head = answer.response();
        if (!object.tag().isEmpty() && !object.tag().equals(head.eTag())) {
            answer.abort();
            throw BadSource.changed(0, "tag=" + head.eTag() + " was=" + object.tag());
        } else if (object.tag().isEmpty() && nanos(head.lastModified()) / SECOND != object.modifiedNanos() / SECOND) {
            answer.abort();
            throw BadSource.changed(0, "it was written at " + head.lastModified());
        } else if (head.contentLength() != null && head.contentLength() != end - from) {
            answer.abort();
            throw BadSource.changed(0, "bytes=" + head.contentLength() + " expected=" + (end - from));
        }
        return new ObjectStream(answer, end - from);
    }
}
