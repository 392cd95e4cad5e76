import { describe, expect, it } from 'vitest';
import { readConfig } from './config.js';

const read = (environment: Record<string, string>) => readConfig(environment, '/here');

describe('the configuration', () => {
  it('is complete when nothing is said', () => {
    expect(read({ PATH: '/bin' })).toEqual({
      home: '/here/.recredit',
      databaseUrl: null,
      segments: 'file:///here/.recredit/segments',
      host: '127.0.0.1',
      port: 4000,
      device: 'auto',
      estimators: null,
      url: 'http://127.0.0.1:4000',
      apiKey: null,
      limits: { requestsPerSecond: null, eventsPerSecond: null },
      logLevel: 'info',
    });
  });

  it('is what the environment says', () => {
    const environment = {
      RECREDIT_HOME: 'data',
      RECREDIT_DATABASE_URL: 'postgres://u:p@db:5432/recredit',
      RECREDIT_SEGMENTS: 'file:///mnt/segments',
      RECREDIT_HOST: '0.0.0.0',
      RECREDIT_PORT: '0',
      RECREDIT_DEVICE: 'wasm',
      RECREDIT_ESTIMATORS: '/my/estimators',
      RECREDIT_URL: 'https://recredit.example.org/',
      RECREDIT_API_KEY: 'rk_0a_1b',
      RECREDIT_REQUESTS_PER_SECOND: '200',
      RECREDIT_EVENTS_PER_SECOND: '0',
      RECREDIT_LOG_LEVEL: 'debug',
    };
    expect(read(environment)).toEqual({
      home: '/here/data',
      databaseUrl: 'postgres://u:p@db:5432/recredit',
      segments: 'file:///mnt/segments',
      host: '0.0.0.0',
      port: 0,
      device: 'wasm',
      estimators: '/my/estimators',
      url: 'https://recredit.example.org',
      apiKey: 'rk_0a_1b',
      limits: { requestsPerSecond: 200, eventsPerSecond: 0 },
      logLevel: 'debug',
    });
  });

  it.each([
    ['file:segments', 'file:///here/segments'],
    ['file:/abs/a b', 'file:///abs/a%20b'],
    ['file:///abs', 'file:///abs'],
  ])('takes %s as a folder', (value, segments) => expect(read({ RECREDIT_SEGMENTS: value }).segments).toBe(segments));

  it('refuses an address of a service that is none', () => {
    const environment = { RECREDIT_SEGMENTS: 's3://bucket', AWS_ENDPOINT_URL: 'minio:9000' };
    expect(() => read(environment)).toThrow('AWS_ENDPOINT_URL: "minio:9000" is not allowed; allowed: http://host:port');
  });

  const CACHE = 'cache=%2Fhere%2F.recredit%2Fsegments-cache&cacheBytes=8000000000';
  it.each<[string, Record<string, string>, string]>([
    ['Amazon', {}, `s3://bucket/a/b?${CACHE}`],
    ['a region', { AWS_DEFAULT_REGION: 'eu-north-1' }, `s3://bucket/a/b?region=eu-north-1&${CACHE}`],
    [
      'another service',
      { AWS_ENDPOINT_URL: 'http://minio:9000' },
      `s3://bucket/a/b?endpoint=http%3A%2F%2Fminio%3A9000&region=us-east-1&pathStyle=true&${CACHE}`,
    ],
    [
      'another one of S3 alone, without copies',
      {
        AWS_ENDPOINT_URL: 'http://other',
        AWS_ENDPOINT_URL_S3: 'https://s3.example',
        AWS_REGION: 'here',
        RECREDIT_SEGMENTS_PATH_STYLE: 'false',
        RECREDIT_SEGMENTS_CACHE_GB: '0',
      },
      's3://bucket/a/b?endpoint=https%3A%2F%2Fs3.example&region=here',
    ],
    ['fewer copies', { RECREDIT_SEGMENTS_CACHE_GB: '0.5' }, `s3://bucket/a/b?${CACHE.replace('=80', '=5')}`],
  ])('says how a bucket is reached: %s', (_, environment, segments) => {
    expect(read({ RECREDIT_SEGMENTS: 's3://bucket/a/b/', ...environment }).segments).toBe(segments);
  });

  it('takes an empty variable as unset', () => {
    expect(read({ RECREDIT_PORT: '', RECREDIT_HOME: '' })).toEqual(read({}));
  });

  it.each([
    ['RECREDIT_PORT', '80000', 'allowed: a port'],
    ['RECREDIT_PORT', '4000x', 'allowed: a port'],
    ['RECREDIT_PORT', '-1', 'allowed: a port'],
    ['RECREDIT_DEVICE', 'gpu', 'allowed: auto, cuda, webgpu or wasm'],
    ['RECREDIT_SEGMENTS', 's3://bucket/a//b', 'allowed: file:/some/folder, s3://bucket or s3://bucket/prefix'],
    ['RECREDIT_SEGMENTS', 's3://Bucket', 's3://bucket/prefix'],
    ['RECREDIT_SEGMENTS', 's3://bucket/../x', 's3://bucket/prefix'],
    ['RECREDIT_SEGMENTS', 's3://bucket?endpoint=http://x', 's3://bucket/prefix'],
    ['RECREDIT_SEGMENTS_CACHE_GB', '-1', 'allowed: a number of gigabytes'],
    ['RECREDIT_SEGMENTS_PATH_STYLE', 'maybe', 'allowed: true or false'],
    ['RECREDIT_SEGMENTS', '/folder', 'allowed: file:'],
    ['RECREDIT_URL', 'recredit.example.org', 'allowed: http://'],
    ['RECREDIT_HOST', 'http://x', 'allowed: a host name'],
  ])('refuses %s=%s with its name, its value and what is allowed', (name, value, allowed) => {
    expect(() => read({ [name]: value })).toThrow(`${name}: ${JSON.stringify(value)} is not allowed`);
    expect(() => read({ [name]: value })).toThrow(allowed);
  });

  it.each([
    ['RECREDIT_DATABASE_URL', 'mysql://user:hunter2@host/db'],
    ['RECREDIT_DATABASE_URL', 'user:hunter2'],
    ['RECREDIT_API_KEY', 'rk_hunter2'],
  ])('never shows a secret: %s', (name, value) => {
    expect(() => read({ [name]: value })).toThrow(name);
    expect(() => read({ [name]: value })).not.toThrow('hunter2');
  });
});
