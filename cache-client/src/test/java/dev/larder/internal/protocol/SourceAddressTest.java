package dev.larder.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SourceAddressTest {
    @ParameterizedTest
    @CsvSource({
        "https://me:hush@host/a?x=1, https://host/a?x=1",
        "https://token@host/a, https://host/a",
        "https://host/a?v=1&sig=hush, https://host/a",
        "https://host/a?pwd=hush, https://host/a",
        "https://host/a?jwt=hush, https://host/a",
        "https://host/a?x-goog-date=hush, https://host/a",
        "https://host?sig=hush, https://host",
        "s3://KEY:hush@bucket/a, s3://bucket/a",
        "s3://:hush@bucket/a, s3://bucket/a",
        "HTTPS://me@host/a?X-Amz-Signature=hush, HTTPS://host/a",
    })
    void secretsAreNotVisible(String address, String visible) {
        assertThat(SourceAddress.visible(address)).isEqualTo(visible);
        assertThat(SourceAddress.secrets(address)).isNotEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "abfss://container@account.dfs.core.windows.net/a",
                "hdfs://name-node:8020/a?b",
                "s3://bucket/a?sig=b",
                "https://host:8443/a?x=1",
            })
    void everythingElseIs(String address) {
        assertThat(SourceAddress.visible(address)).isEqualTo(address);
        assertThat(SourceAddress.secrets(address)).isEmpty();
    }
}
