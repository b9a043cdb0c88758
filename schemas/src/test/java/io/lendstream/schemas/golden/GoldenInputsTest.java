package io.lendstream.schemas.golden;

import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** Writes the golden cases' logs again; only on demand, because the same log keeps decisions of versions comparable. */
@EnabledIfSystemProperty(
        named = "golden.inputs",
        matches = "true",
        disabledReason = "golden logs stay as they are unless -Dgolden.inputs=true asks for new ones")
final class GoldenInputsTest {
    @TestFactory
    Stream<DynamicTest> isToldAnew() {
        return Tales.all().entrySet().stream()
                .map(entry -> DynamicTest.dynamicTest(entry.getKey(), () -> {
                    GoldenScenario tale = entry.getValue().get();
                    GoldenCase.named(entry.getKey()).writeEvents(tale.story().log(), tale.notes());
                }));
    }
}
