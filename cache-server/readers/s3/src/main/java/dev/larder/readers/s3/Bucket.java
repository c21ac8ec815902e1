package dev.larder.readers.s3;

import dev.larder.reader.BadSource;
import dev.larder.reader.TemporaryFailure;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.auth.credentials.AnonymousCredentialsProvider;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.ContainerCredentialsProvider;
import software.amazon.awssdk.auth.credentials.EnvironmentVariableCredentialsProvider;
import software.amazon.awssdk.auth.credentials.InstanceProfileCredentialsProvider;
import software.amazon.awssdk.auth.credentials.ProfileCredentialsProvider;
import software.amazon.awssdk.auth.credentials.SystemPropertyCredentialsProvider;
import software.amazon.awssdk.auth.credentials.WebIdentityTokenFileCredentialsProvider;
import software.amazon.awssdk.awscore.retry.AwsRetryStrategy;
import software.amazon.awssdk.core.checksums.ResponseChecksumValidation;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.regions.providers.DefaultAwsRegionProviderChain;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3ClientBuilder;
import software.amazon.awssdk.services.s3.model.S3Exception;

/**
 * A place in a bucket: {@code s3://BUCKET/KEY}, the key without escapes.
 *
 * @param name the bucket
 * @param key empty for the whole bucket
 */
record Bucket(String name, String key) {
    private static final String SCHEME = "://";

    static Bucket of(String address) throws BadSource {
        String rest = address.substring(address.indexOf(SCHEME) + SCHEME.length());
        int slash = rest.indexOf('/');
        Bucket bucket =
                slash < 0 ? new Bucket(rest, "") : new Bucket(rest.substring(0, slash), rest.substring(slash + 1));
        if (bucket.name.isEmpty() || bucket.name.indexOf('@') >= 0) {
            throw bad(
                    "it names no bucket", "give s3://BUCKET/PREFIX, and credentials to the daemon, not in the address");
        }
        return bucket;
    }

    boolean isFolder() {
        return key.isEmpty() || key.endsWith("/");
    }

    String address(String otherKey) {
        return "s3://" + name + "/" + otherKey;
    }

    static BadSource bad(String reason, String remedy) {
        return new BadSource(0, BadSource.NOWHERE, "", reason, remedy);
    }

    /** Sends requests to S3, and turns its errors into messages. Thread-safe. */
    static final class Client {
        private static final Duration CONNECT = Duration.ofSeconds(10);
        private static final Duration SILENCE = Duration.ofSeconds(15);
        private static final Set<Integer> TEMPORARY = Set.of(408, 429, 500, 502, 503, 504);
        private static final int PRECONDITION_FAILED = 412;
        private static final int RANGE_NOT_SATISFIABLE = 416;
        private static final int FORBIDDEN = 403;
        private static final int NOT_FOUND = 404;

        private @Nullable S3Client s3;
        private String tried = "none";

        /** Returns the source of the credentials, for people. */
        synchronized String tried() {
            return tried;
        }

        /** Creates the client with the first request, because the search for credentials may be slow. */
        private synchronized S3Client s3() {
            S3Client made = s3;
            if (made == null) {
                made = make(credentials());
                s3 = made;
            }
            return made;
        }

        /** Searches the places of the SDK's default chain in its order, so that messages can name the place. */
        private AwsCredentialsProvider credentials() {
            Map<String, Supplier<AwsCredentialsProvider>> chain = new LinkedHashMap<>();
            chain.put("system properties", SystemPropertyCredentialsProvider::create);
            chain.put("environment", EnvironmentVariableCredentialsProvider::create);
            chain.put("web identity", WebIdentityTokenFileCredentialsProvider::create);
            chain.put("profile", ProfileCredentialsProvider::create);
            chain.put("container", () -> ContainerCredentialsProvider.builder().build());
            chain.put("instance", InstanceProfileCredentialsProvider::create);
            for (Map.Entry<String, Supplier<AwsCredentialsProvider>> link : chain.entrySet()) {
                try { // a file that is malformed fails when its provider is made
                    AwsCredentialsProvider provider = link.getValue().get();
                    provider.resolveCredentials();
                    tried = link.getKey();
                    return provider;
                } catch (SdkException | IllegalStateException | IllegalArgumentException none) {
                    tried = "none"; // the next place may have some
                }
            }
            tried = "none (looked at " + String.join(", ", chain.keySet()) + ")";
            return AnonymousCredentialsProvider.create();
        }

        private static S3Client make(AwsCredentialsProvider credentials) {
            Map<String, String> environment = System.getenv();
            boolean isOther =
                    Stream.of("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3").anyMatch(environment::containsKey)
                            || System.getProperty("aws.endpointUrl") != null;
            S3ClientBuilder builder = S3Client.builder()
                    .credentialsProvider(credentials)
                    .region(region())
                    .forcePathStyle(isOther) // other servers seldom have a host name for each bucket
                    .crossRegionAccessEnabled(!isOther)
                    .responseChecksumValidation(ResponseChecksumValidation.WHEN_REQUIRED)
                    .overrideConfiguration(configuration -> configuration.retryStrategy(AwsRetryStrategy.doNotRetry()))
                    .httpClient(UrlConnectionHttpClient.builder()
                            .connectionTimeout(CONNECT)
                            .socketTimeout(SILENCE)
                            .build());
            return builder.build();
        }

        private static Region region() {
            try {
                return new DefaultAwsRegionProviderChain().getRegion();
            } catch (SdkClientException none) {
                return Region.US_EAST_1;
            }
        }

        /** Makes one request. */
        <T> T ask(Function<S3Client, T> request) throws IOException {
            try {
                return request.apply(s3());
            } catch (S3Exception e) {
                throw worded(e);
            } catch (IllegalArgumentException e) { // such as a name that no bucket has
                throw bad("it is not the address of an object: " + e.getMessage(), "give s3://BUCKET/PREFIX");
            } catch (SdkException e) {
                throw new TemporaryFailure(BadSource.words(deepest(e)), 0);
            }
        }

        /** Makes one request; returns empty if the object does not exist or is not accessible. */
        <T> Optional<T> askIfThere(Function<S3Client, T> request) throws IOException {
            try {
                return Optional.of(request.apply(s3()));
            } catch (S3Exception e) {
                if (e.statusCode() == NOT_FOUND || e.statusCode() == FORBIDDEN) {
                    return Optional.empty(); // the list that follows has the reason
                }
                throw worded(e);
            } catch (IllegalArgumentException e) {
                return Optional.empty();
            } catch (SdkException e) {
                throw new TemporaryFailure(BadSource.words(deepest(e)), 0);
            }
        }

        private static Throwable deepest(Throwable failure) {
            Throwable first = failure;
            while (first.getCause() != null && first.getCause() != first) {
                first = first.getCause();
            }
            return first;
        }

        private IOException worded(S3Exception failure) {
            int status = failure.statusCode();
            String code = failure.awsErrorDetails() == null
                    ? ""
                    : " code=" + failure.awsErrorDetails().errorCode();
            if (TEMPORARY.contains(status)) {
                return new TemporaryFailure("status " + status + code, 0);
            } else if (status == PRECONDITION_FAILED || status == RANGE_NOT_SATISFIABLE) {
                return BadSource.changed(0, "the bucket has another version now");
            } else if (status == NOT_FOUND) {
                return bad("it is not there: status=404" + code + " credentials=" + tried(), "check bucket and key");
            }
            return bad(
                    "the bucket refuses: status=" + status + code + " credentials=" + tried(),
                    "give the daemon credentials that may read it: AWS_PROFILE, AWS_ACCESS_KEY_ID or"
                            + " ~/.aws/credentials");
        }
    }
}
