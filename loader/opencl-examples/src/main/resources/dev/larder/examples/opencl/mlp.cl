// What Mlp computes with. Matrices are of floats, their rows one after the other. TILE is given when this is compiled.

// out[row][column] = sum over k of a[row][k] * b[k][column]. Steps say how far apart the elements of a and b are in either
// direction, so that both can be read transposed. A work-group makes TILE x TILE elements from what it reads together; each of its
// TILE / 4 x TILE / 4 work-items makes 4 x 4 of them.
__kernel void multiply(uint rows, uint columns, uint depth,
                       __global const float *a, uint a_row_step, uint a_column_step,
                       __global const float *b, uint b_row_step, uint b_column_step,
                       __global float *out) {
    __local float a_tile[TILE][TILE];
    __local float b_tile[TILE][TILE];
    uint x = get_local_id(0), y = get_local_id(1);
    uint left = get_group_id(0) * TILE, top = get_group_id(1) * TILE;
    float4 sums[4] = {(float4)(0), (float4)(0), (float4)(0), (float4)(0)};
    for (uint first = 0; first < depth; first += TILE) {
        for (uint i = y * (TILE / 4) + x; i < TILE * TILE; i += TILE * TILE / 16) {
            uint r = i / TILE, c = i % TILE, row = first + r, column = first + c;
            a_tile[r][c] = top + r < rows && column < depth ? a[(top + r) * a_row_step + column * a_column_step] : 0;
            b_tile[r][c] = row < depth && left + c < columns ? b[row * b_row_step + (left + c) * b_column_step] : 0;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = 0; k < TILE; k++) {
            float4 four = vload4(x, b_tile[k]);
            for (uint i = 0; i < 4; i++) {
                sums[i] += a_tile[4 * y + i][k] * four;
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (uint i = 0; i < 4; i++) {
        float elements[4];
        vstore4(sums[i], 0, elements);
        for (uint j = 0; j < 4; j++) {
            uint row = top + 4 * y + i, column = left + 4 * x + j;
            if (row < rows && column < columns) {
                out[row * columns + column] = elements[j];
            }
        }
    }
}

// One work-item for each element of hidden: adds the bias, and makes 0 of what is below.
__kernel void activate(uint columns, __global const float *bias, __global float *hidden) {
    uint i = get_global_id(0);
    hidden[i] = fmax(hidden[i] + bias[i % columns], 0.0f);
}

// One work-item for each sample: turns outputs into probabilities, notes in scores how good they are (losses of all samples, then
// 1 for each that was right), and leaves in outputs how the mean loss of the batch changes with them.
__kernel void judge(uint classes, __global const float *bias, __global const int *labels,
                    __global float *outputs, __global float *scores) {
    uint sample = get_global_id(0), samples = get_global_size(0);
    __global float *output = outputs + sample * classes;
    uint label = labels[sample];
    uint best = 0;
    for (uint c = 0; c < classes; c++) {
        output[c] += bias[c];
        best = output[c] > output[best] ? c : best;
    }
    float most = output[best], sum = 0, own = 0;
    for (uint c = 0; c < classes; c++) {
        own = c == label ? output[c] - most : own;
        output[c] = exp(output[c] - most);
        sum += output[c];
    }
    for (uint c = 0; c < classes; c++) {
        output[c] = (output[c] / sum - (c == label)) / samples;
    }
    scores[sample] = log(sum) - own;
    scores[samples + sample] = best == label;
}

// Two work-items: adds up the losses of a batch, and how many samples were right, and puts both where a step has its place.
__kernel void tally(uint samples, __global const float *scores, __global float *steps, uint step) {
    uint which = get_global_id(0);
    float sum = 0;
    for (uint i = 0; i < samples; i++) {
        sum += scores[which * samples + i];
    }
    steps[2 * step + which] = sum;
}

// One work-item for each element of error: nothing goes back through what was made 0 on the way forward.
__kernel void block(__global const float *hidden, __global float *error) {
    uint i = get_global_id(0);
    error[i] = hidden[i] > 0 ? error[i] : 0;
}

// One work-item for each column.
__kernel void sum_rows(uint rows, uint columns, __global const float *matrix, __global float *sums) {
    uint column = get_global_id(0);
    float sum = 0;
    for (uint row = 0; row < rows; row++) {
        sum += matrix[row * columns + column];
    }
    sums[column] = sum;
}

// One work-item for each parameter: a step of stochastic gradient descent with momentum.
__kernel void descend(float rate, float momentum, __global const float *gradient, __global float *velocity,
                      __global float *parameters) {
    uint i = get_global_id(0);
    velocity[i] = momentum * velocity[i] + gradient[i];
    parameters[i] -= rate * velocity[i];
}
