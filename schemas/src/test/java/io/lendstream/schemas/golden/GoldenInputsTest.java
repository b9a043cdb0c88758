package io.lendstream.schemas.golden;

import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** Regenerates the golden cases' logs, only on demand: an unchanged log makes decisions comparable between versions. */
@EnabledIfSystemProperty(
        named = "golden.inputs",
        matches = "true",
        disabledReason = "golden logs stay as they are unless -Dgolden.inputs=true asks for new ones")
final class GoldenInputsTest {
    @TestFactory
    Stream<DynamicTest> isRegenerated() {
        return Tales.all().entrySet().stream()
                .map(entry -> DynamicTest.dynamicTest(entry.getKey(), () -> {
                    GoldenScenario tale = entry.getValue().get();
                    GoldenCase.named(entry.getKey()).writeEvents(tale.story().log(), tale.notes());
                }));
    }
}
