/** Who uses the GPUs of a node: pods, as the kubelet tells, and Slurm's jobs, as their processes' control groups do. */
@NullMarked
package io.lendstream.agent.users;

import org.jspecify.annotations.NullMarked;
