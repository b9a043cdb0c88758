package io.lendstream.fuzz;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.lendstream.schemas.codec.AnyRecord;
import io.lendstream.schemas.codec.Codecs;
import io.lendstream.schemas.serde.AvroBytes;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Inputs that a fuzzer found, or began with: each is read or refused as its reader says. */
final class CorpusTest {

    @ParameterizedTest
    @MethodSource("inputs")
    void anInputOnceFoundIsReadOrRefused(Corpus corpus, Path input) {
        assertThatCode(() -> corpus.run(Files.readAllBytes(input))).doesNotThrowAnyException();
    }

    static Stream<Arguments> inputs() {
        return Arrays.stream(Corpus.values()).flatMap(CorpusTest::inputs);
    }

    private static Stream<Arguments> inputs(Corpus corpus) {
        try {
            return corpus.inputs().stream().map(input -> Arguments.of(corpus, input));
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    @ParameterizedTest
    @EnumSource
    void everyTargetHasInputsToBeginWith(Corpus corpus) throws IOException {
        assertThat(corpus.inputs()).isNotEmpty();
    }

    /** Else the fuzzer would begin with nothing that reads. */
    @Test
    void whatTheCodecBeginsWithAreRecordsOfEveryTopic() throws IOException {
        for (Topic<?> topic : TopicCatalogue.ALL) {
            byte[] input = CodecTarget.input(topic, written(topic));
            Path kept = Corpus.CODEC.directory().resolve("record-" + topic);
            if (Boolean.getBoolean("fuzz.update")) {
                Files.createDirectories(kept.getParent());
                Files.write(kept, input);
            }
            assertThat(kept).isRegularFile();
        }
    }

    private static <T> byte[] written(Topic<T> topic) {
        return AvroBytes.write(Codecs.encode(topic, new AnyRecord(1).of(topic.type())));
    }
}
