package io.lendstream.actuator.adoption;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ShownProcessTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "python3 train.py --token abc | python3 train.py",
                "python3 -u -m torch.distributed.run --nproc_per_node 2 train.py | python3 torch.distributed.run",
                "vllm serve --api-key abc | vllm serve",
                "prog --password abc | prog",
                "prog -p abc | prog",
                "env TOKEN=abc prog | env",
                "curl https://u:p@host/ | curl",
                "prog \u001b[31m | prog ?[31m",
            })
    void onlyTheProgramAndTheScriptAreShown(String command, String shown) {
        assertThat(ShownProcess.of(Arrays.asList(command.split(" ", -1)))).isEqualTo(shown);
    }

    @ParameterizedTest
    @CsvSource({"119, 119", "120, 120", "121, 120", "5000, 120"})
    void aLongPathIsCut(int length, int shown) {
        assertThat(ShownProcess.of(Arrays.asList("x".repeat(length)))).hasSize(shown);
    }
}
