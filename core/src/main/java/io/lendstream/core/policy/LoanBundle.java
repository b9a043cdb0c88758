package io.lendstream.core.policy;

import io.lendstream.core.id.GpuId;
import java.util.List;

/**
 * GPUs of inference that are lent and taken back together.
 *
 * @param name for operators, such as {@code node n1}
 */
public record LoanBundle(String name, List<GpuId> gpus) {
    public LoanBundle {
        gpus = List.copyOf(gpus);
    }
}
